/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The little that is read of Azure's XML: the text of elements by their name, and the blobs of a
 * list. It is not a parser of XML: what it does not know it passes over.
 */
#include "base/hex.h"
#include "locks/azure_private.h"

#include <stdio.h>

/* Where `word` begins at or behind `from`; SIZE_MAX. */
static size_t find(struct pawl_str text, size_t from, size_t to, const char *word)
{
    size_t length = strlen(word);

    if (to > text.len)
        to = text.len;
    for (size_t i = from; i + length <= to; i++)
        if (memcmp(text.ptr + i, word, length) == 0)
            return i;
    return SIZE_MAX;
}

/* &#65; and &#x41;: behind the '#', before the ';'. 0: none. */
static uint32_t read_reference(struct pawl_str digits)
{
    bool hexadecimal = digits.len > 0 && (digits.ptr[0] == 'x' || digits.ptr[0] == 'X');
    uint32_t value = 0;

    for (size_t i = hexadecimal ? 1 : 0; i < digits.len; i++) {
        int digit = pawl__hex_value(digits.ptr[i]);

        if (digit < 0 || (digit > 9 && !hexadecimal) || value > 0x10ffff)
            return 0;
        value = value * (hexadecimal ? 16 : 10) + (uint32_t)digit;
    }
    return value > 0x10ffff || (value >= 0xd800 && value < 0xe000) ? 0 : value;
}

/* The character of "amp", "#65"; 0: unknown. */
static uint32_t entity(struct pawl_str name)
{
    static const struct {
        const char *name;
        char character;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (pawl__str_is(name, known[i].name))
            return (unsigned char)known[i].character;
    if (name.len > 1 && name.ptr[0] == '#')
        return read_reference(pawl__str_slice(name, 1, name.len));
    return 0;
}

static void decode(struct pawl_str text, char *out, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < text.len; i++) {
        size_t end = text.ptr[i] == '&' ? pawl__str_find(text, ';', i) : SIZE_MAX;
        uint32_t character = end == SIZE_MAX ? 0 : entity(pawl__str_slice(text, i + 1, end));
        char bytes[4] = {text.ptr[i]};
        size_t count = 1;

        if (character != 0) {
            count = pawl__utf8_encode(character, bytes);
            i = end;
        }
        if (length + count >= size)
            break;
        memcpy(out + length, bytes, count);
        length += count;
    }
    out[length] = 0;
}

/* As pawl__azure_xml_next, up to `to`. */
static bool next_within(struct pawl_str xml, const char *name, size_t *at, size_t to, char *out,
                        size_t size)
{
    char open[48], close[48];
    size_t begin, end;

    (void)snprintf(open, sizeof open, "<%.40s>", name);
    (void)snprintf(close, sizeof close, "</%.40s>", name);
    begin = find(xml, *at, to, open);
    if (begin == SIZE_MAX)
        return false;
    begin += strlen(open);
    end = find(xml, begin, to, close);
    if (end == SIZE_MAX)
        return false;
    decode(pawl__str_slice(xml, begin, end), out, size);
    *at = end + strlen(close);
    return true;
}

bool pawl__azure_xml_next(struct pawl_str xml, const char *name, size_t *at, char *out, size_t size)
{
    return next_within(xml, name, at, xml.len, out, size);
}

static uint64_t read_number(const char *text)
{
    uint64_t value = 0;

    for (; *text >= '0' && *text <= '9' && value < UINT64_MAX / 10 - 1; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    return *text ? 0 : value;
}

bool pawl__azure_xml_blob(struct pawl_str xml, size_t *at, struct azure_listed *out)
{
    char text[PAWL_LOCK_OWNER_SIZE];
    size_t begin = find(xml, *at, xml.len, "<Blob>"), end, place;

    if (begin == SIZE_MAX)
        return false;
    end = find(xml, begin, xml.len, "</Blob>");
    if (end == SIZE_MAX)
        return false;
    *at = end;
    memset(out, 0, sizeof *out);
    place = begin;
    if (!next_within(xml, "Name", &place, end, out->name, sizeof out->name))
        return false;
    place = begin;
    out->is_leased = next_within(xml, "LeaseState", &place, end, text, sizeof text) &&
                     strcmp(text, "leased") == 0;
    place = begin;
    (void)next_within(xml, "holder", &place, end, out->holder, sizeof out->holder);
    place = begin;
    if (next_within(xml, "fence", &place, end, text, sizeof text))
        out->fence = read_number(text);
    return true;
}
