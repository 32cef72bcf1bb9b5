/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 both ways, four characters at a time; see base64.h. */
#include "base/base64.h"

static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

size_t pawl__base64_decode(struct pawl_str text, unsigned char *out)
{
    uint32_t group = 0;
    unsigned in_group = 0;
    unsigned padding = 0;
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++) {
        int bits = sextet(text.ptr[i]);

        if (is_blank(text.ptr[i]))
            continue;
        if (text.ptr[i] == '=' && in_group >= 2) {
            padding++;
            bits = 0;
        }
        if (bits < 0 || (padding > 0 && text.ptr[i] != '='))
            return SIZE_MAX;
        group = group << 6 | (uint32_t)bits;
        if (++in_group < 4)
            continue;
        for (unsigned byte = 0; byte < 3 - padding; byte++) {
            if (out)
                out[count] = (unsigned char)(group >> (16 - 8 * byte));
            count++;
        }
        group = 0;
        in_group = 0;
    }
    return in_group == 0 ? count : SIZE_MAX;
}

size_t pawl__base64url_decode(struct pawl_str text, unsigned char *out)
{
    uint32_t bits = 0;
    unsigned bit_count = 0;
    size_t count = 0;

    if (text.len % 4 == 1)
        return SIZE_MAX;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        int value = c == '-' ? 62 : c == '_' ? 63 : c == '+' || c == '/' ? -1 : sextet(c);

        if (value < 0)
            return SIZE_MAX;
        bits = bits << 6 | (uint32_t)value;
        bit_count += 6;
        if (bit_count < 8)
            continue;
        bit_count -= 8;
        if (out)
            out[count] = (unsigned char)(bits >> bit_count);
        count++;
        bits &= (1u << bit_count) - 1;
    }
    return bits == 0 ? count : SIZE_MAX;
}

static const char plain_alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Up to three bytes as two to four characters. */
static void encode_group(const unsigned char *bytes, size_t left, const char *alphabet, char *out)
{
    uint32_t group = (uint32_t)bytes[0] << 16;

    if (left > 1)
        group |= (uint32_t)bytes[1] << 8;
    if (left > 2)
        group |= bytes[2];
    out[0] = alphabet[group >> 18];
    out[1] = alphabet[group >> 12 & 63];
    if (left > 1)
        out[2] = alphabet[group >> 6 & 63];
    if (left > 2)
        out[3] = alphabet[group & 63];
}

void pawl__base64_encode(const unsigned char *bytes, size_t len, char *out)
{
    for (size_t i = 0; i < len; i += 3, out += 4) {
        if (len - i < 3)
            memset(out, '=', 4);
        encode_group(bytes + i, len - i, plain_alphabet, out);
    }
}

void pawl__base64url_encode(const unsigned char *bytes, size_t len, char *out)
{
    for (size_t i = 0; i < len; i += 3, out += 4)
        encode_group(bytes + i, len - i, url_alphabet, out);
}
