/* SPDX-License-Identifier: Apache-2.0 */
/* Trace contexts; see trace_context.h. */
#include "base/trace_context.h"

#include "base/hash/sha256.h"
#include "base/hex.h"

static bool is_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* Lower case only, as the standard has it. */
static bool decode(struct pawl_str digits, unsigned char *out)
{
    for (size_t i = 0; i < digits.len; i++)
        if (digits.ptr[i] >= 'A' && digits.ptr[i] <= 'F')
            return false;
    return pawl__hex_decode(digits, out);
}

bool pawl__traceparent_read(struct pawl_str text, struct pawl_trace_context *out)
{
    struct pawl_trace_context found = {0};
    unsigned char version;

    *out = found;
    text = pawl__str_trim(text);
    if (text.len < PAWL_TRACEPARENT_SIZE - 1 || text.ptr[2] != '-' || text.ptr[35] != '-' ||
        text.ptr[52] != '-' || !decode(pawl__str_slice(text, 0, 2), &version) ||
        !decode(pawl__str_slice(text, 3, 35), found.trace_id) ||
        !decode(pawl__str_slice(text, 36, 52), found.span_id) ||
        !decode(pawl__str_slice(text, 53, 55), &found.flags))
        return false;
    if (version == 0xff || (version == 0 && text.len != PAWL_TRACEPARENT_SIZE - 1) ||
        (text.len > PAWL_TRACEPARENT_SIZE - 1 && text.ptr[55] != '-') ||
        !pawl__trace_is_set(&found))
        return false;
    found.flags &= PAWL_TRACE_SAMPLED;
    *out = found;
    return true;
}

void pawl__traceparent_write(const struct pawl_trace_context *context,
                             char out[PAWL_TRACEPARENT_SIZE])
{
    memcpy(out, "00-", 3);
    pawl__hex_encode(context->trace_id, sizeof context->trace_id, PAWL_HEX_LOWER, out + 3);
    out[35] = '-';
    pawl__hex_encode(context->span_id, sizeof context->span_id, PAWL_HEX_LOWER, out + 36);
    out[52] = '-';
    pawl__hex_encode(&context->flags, 1, PAWL_HEX_LOWER, out + 53);
    out[55] = '\0';
}

void pawl__trace_id_text(const struct pawl_trace_context *context, char out[PAWL_TRACE_ID_SIZE])
{
    pawl__hex_encode(context->trace_id, sizeof context->trace_id, PAWL_HEX_LOWER, out);
    out[PAWL_TRACE_ID_SIZE - 1] = '\0';
}

bool pawl__trace_is_set(const struct pawl_trace_context *context)
{
    return !is_zero(context->trace_id, sizeof context->trace_id) &&
           !is_zero(context->span_id, sizeof context->span_id);
}

void pawl__trace_of_instance(struct pawl_str instance_id, struct pawl_trace_context *out)
{
    static const char purpose[] = "pawl trace of instance ";
    unsigned char digest[PAWL_SHA256_BYTES];
    struct pawl_sha256 sha;

    pawl__sha256_init(&sha);
    pawl__sha256_update(&sha, purpose, sizeof purpose - 1);
    pawl__sha256_update(&sha, instance_id.ptr, instance_id.len);
    pawl__sha256_final(&sha, digest);
    memcpy(out->trace_id, digest, sizeof out->trace_id);
    memcpy(out->span_id, digest + sizeof out->trace_id, sizeof out->span_id);
    out->flags = PAWL_TRACE_SAMPLED;
}
