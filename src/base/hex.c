/* SPDX-License-Identifier: Apache-2.0 */
/* Hexadecimal digits. */
#include "base/hex.h"

void pawl__hex_encode(const void *bytes, size_t count, enum pawl_hex_case letters, char *out)
{
    const unsigned char *p = bytes;
    const char *digits = letters == PAWL_HEX_UPPER ? "0123456789ABCDEF" : "0123456789abcdef";

    for (size_t i = 0; i < count; i++) {
        out[2 * i] = digits[p[i] >> 4];
        out[2 * i + 1] = digits[p[i] & 15];
    }
}

int pawl__hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

bool pawl__hex_decode(struct pawl_str digits, void *out)
{
    unsigned char *to = out;

    if (digits.len % 2 != 0)
        return false;
    for (size_t i = 0; i < digits.len; i += 2) {
        int high = pawl__hex_value(digits.ptr[i]);
        int low = pawl__hex_value(digits.ptr[i + 1]);

        if (high < 0 || low < 0)
            return false;
        to[i / 2] = (unsigned char)(high << 4 | low);
    }
    return true;
}
