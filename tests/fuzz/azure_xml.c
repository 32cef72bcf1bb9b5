/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an answer of Azure's are passed over or read, within their bounds, to the end. */
#include "base/assert.h"
#include "fuzz/fuzz.h"
#include "locks/azure_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_str xml = pawl__str_make((const char *)data, size);
    struct azure_listed blob;
    char text[64];
    size_t at = 0, last = 0;
    int64_t seconds;

    while (pawl__azure_xml_blob(xml, &at, &blob)) {
        PAWL_ASSERT(at > last && at <= size);
        PAWL_ASSERT(strlen(blob.name) < sizeof blob.name &&
                    strlen(blob.holder) < sizeof blob.holder);
        last = at;
    }
    at = 0;
    while (pawl__azure_xml_next(xml, "Message", &at, text, sizeof text))
        PAWL_ASSERT(at <= size && strlen(text) < sizeof text);
    /* What fits into nanoseconds is written again; the day of the week is not looked at. */
    if (pawl__azure_date_parse(xml, &seconds) && seconds < INT64_MAX / 1000000000) {
        char again[AZURE_DATE_SIZE];

        pawl__azure_date_format(seconds * 1000000000, again);
        PAWL_ASSERT(memcmp(again + 4, xml.ptr + 4, 25) == 0);
    }
    return 0;
}
