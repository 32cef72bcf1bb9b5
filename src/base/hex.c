/* SPDX-License-Identifier: Apache-2.0 */
/* Hexadecimal digits. */
#include "base/hex.h"

/* Eight digits at a time, one in each byte of a word: there are ids in everything that is stored.
 */
static void encode_four(const unsigned char *p, uint64_t letter, char *out)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t n = (uint64_t)p[0] << 24 | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 8 | p[3];

    n = (n << 16 | n) & UINT64_C(0x0000FFFF0000FFFF);
    n = (n << 8 | n) & UINT64_C(0x00FF00FF00FF00FF);
    n = (n << 4 | n) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    /* Six more than a digit of its own carries those of 10 and above into bit 4. */
    n += ones * '0' + ((n + ones * 6) >> 4 & ones) * letter;
    for (unsigned i = 0; i < 8; i++)
        out[i] = (char)(unsigned char)(n >> (56 - 8 * i));
}

void pawl__hex_encode(const void *bytes, size_t count, enum pawl_hex_case letters, char *out)
{
    const unsigned char *p = bytes;
    const char *digits = letters == PAWL_HEX_UPPER ? "0123456789ABCDEF" : "0123456789abcdef";
    size_t i = 0;

    for (; i + 4 <= count; i += 4)
        encode_four(p + i, (uint64_t)(digits[10] - '0' - 10), out + 2 * i);
    for (; i < count; i++) {
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
