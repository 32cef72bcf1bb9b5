/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures of webhooks: whoever sends one adds a code of its body (HMAC), made with a secret that
 * both sides have. The rule says where the code is and what exactly was signed:
 *
 *     {"header": "X-Hub-Signature-256", "prefix": "sha256=", "secret": "github"}
 *     {"header": "X-Slack-Signature", "prefix": "v0=", "timestampHeader":
 * "X-Slack-Request-Timestamp", "payload": "v0:{timestamp}:{body}", "secret": "slack"}
 *     {"header": "Stripe-Signature", "prefix": "v1=", "timestampPrefix": "t=",
 *      "payload": "{timestamp}.{body}", "secret": "stripe"}
 *     {"header": "X-Shopify-Hmac-Sha256", "encoding": "base64", "secret": "shopify"}
 *
 *     header            that has the code; of several items apart by commas, those with the prefix
 *                       count, and one of them must be right
 *     secret            the name of the secret; its value is never part of a definition
 *     algorithm         "sha256" (the default), "sha1", "sha512"
 *     encoding          "hex" (the default), "base64"
 *     prefix            before the code; "" by default
 *     payload           what is signed; "{body}" by default
 *     timestampHeader   that has the time of sending, in seconds since 1970; or
 *     timestampPrefix   of an item of `header` that has it
 *     toleranceSeconds  how far that may be from now: 300 by default. A rule with a time must sign
 *                       it, else it says nothing
 *
 * A rule that is not understood is an error: nothing is accepted then. Codes are compared in a time
 * that says nothing about where they differ.
 */
#ifndef PAWL_BASE_SIGNATURE_H
#define PAWL_BASE_SIGNATURE_H

#include "base/json/json.h"

struct pawl_signature_rule {
    struct pawl_str header, secret, prefix, payload, timestamp_header, timestamp_prefix;
    struct pawl_str algorithm, encoding;
    int64_t tolerance_s;
};

/* Borrows the JSON. PAWL_EINVAL: the message says what is wrong with it. */
PAWL_MUST_CHECK int pawl__signature_rule_read(const struct pawl_json *json,
                                              struct pawl_signature_rule *out,
                                              struct pawl_error *err);

struct pawl_signed {
    struct pawl_str code;      /* the field `header`; "": there is none */
    struct pawl_str timestamp; /* the field `timestampHeader` */
    struct pawl_str body;      /* byte for byte as it came */
    int64_t now_s;
};

enum pawl_signature_result {
    PAWL_SIGNATURE_GOOD,
    PAWL_SIGNATURE_MISSING,
    PAWL_SIGNATURE_WRONG,
    PAWL_SIGNATURE_STALE, /* right, but too old, or of the future */
    PAWL_SIGNATURE_NO_MEMORY,
};

/* `key` is the value of the secret, not empty. Memory for the payload is from `alloc`. */
enum pawl_signature_result pawl__signature_check(const struct pawl_signature_rule *rule,
                                                 struct pawl_str key,
                                                 const struct pawl_signed *what,
                                                 const struct pawl_allocator *alloc);

#endif
