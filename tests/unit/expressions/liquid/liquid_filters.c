/* SPDX-License-Identifier: Apache-2.0 */
/* Every filter, family by family. */
#include "expressions/liquid/liquid_render.h"

static void calculates(void **state)
{
    static const struct example examples[] = {
        {"{{ -3 | abs }} {{ '-1.5' | abs }} {{ 'x' | abs }}", "3 1.5 0"},
        {"{{ 3 | at_least: 4 }}{{ 5 | at_least: 4 }} {{ 3 | at_most: 2 }}{{ 1 | at_most: 2 }}",
         "45 21"},
        {"{{ 3.2 | ceil }} {{ -3.2 | ceil }} {{ 3.8 | floor }} {{ -3.2 | floor }}", "4 -3 3 -4"},
        {"{{ 2.5 | round }} {{ 3.5 | round }} {{ 1.005 | round: 2 }} {{ 12.99 | round }}",
         "2 4 1.0 13"},
        {"{{ 0.1 | plus: 0.2 }} {{ '5' | plus: '6' }} {{ 'x' | plus: 1 }}", "0.3 11 1"},
        {"{{ 1 | minus: 2.5 }} {{ 2.5 | minus: 0.5 }} {{ nil | minus: 1 }}", "-1.5 2.0 -1"},
        {"{{ 5 | times: 1.5 }} {{ 1.5 | times: 2 }} {{ 1000000 | times: 1000000 }}",
         "7.5 3.0 1000000000000"},
        {"{{ 7 | divided_by: 2 }} {{ 7.0 | divided_by: 2 }} {{ -1 | divided_by: 2 }}", "3 3 -1"},
        {"{{ 7 | divided_by: 2.0 }} {{ 1 | divided_by: 3.0 }} {{ 2 | divided_by: 3.0 }}",
         "3.5 0.3333333333333333333333333333 0.6666666666666666666666666667"},
        {"{{ 10.00 | divided_by: 2.5 }} {{ 1 | divided_by: 8.0 }}", "4.0 0.125"},
        {"{{ 7 | modulo: 3 }} {{ 10.5 | modulo: 3 }} {{ 1.5 | modulo: 3 }} {{ -7 | modulo: 3 }}",
         "1 1 2 -1"},
        {"{{ 79228162514264337593543950335 | minus: 1 }}", "79228162514264337593543950334"},
        {"{{ 79228162514264337593543950335 | times: 0.1 }}", "7922816251426433759354395033.5"},
        {"{{ 0.0000000000000000000000000001 | times: 0.5 }}", "0.0"},
        {"{{ 0.00001 }} {{ 0.0001 }} {{ 0.000012 }}", "1E-05 0.0001 1.2E-05"},
        {"{{ Variables.Nums | plus: 1 }} {{ true | plus: 1 }} {{ Variables.Item | plus: 1 }}",
         "4 2 1"},
    };
    static const struct example raises[] = {
        {"{{ 1 | divided_by: 0 }}", "Attempted to divide by zero."},
        {"{{ 1 | modulo: 0 }}", "DivideByZeroException"},
        {"{{ 79228162514264337593543950335 | plus: 1 }}", "OverflowException"},
        {"{{ 79228162514264337593543950335 | times: 2 }}", "OverflowException"},
        {"{{ 79228162514264337593543950335 | divided_by: 0.1 }}", "OverflowException"},
        {"{{ 1 | round: 29 }}", "ArgumentOutOfRangeException"},
        {"{{ Variables.Huge }}", "OverflowException"},
    };

    (void)state;
    assert_renders(examples);
    assert_raises(raises);
}

static void changes_texts(void **state)
{
    static const struct example examples[] = {
        {"{{ 'a' | append: 1 | prepend: true }}", "truea1"},
        {"{{ 'title case-of a.b' | capitalize }}", "Title Case-Of A.B"},
        {"{{ 'HÉLLO Ωж' | downcase }} {{ 'héllo ωЖß' | upcase }}", "héllo ωж HÉLLO ΩЖß"},
        {"[{{ '\\u00a0 s ' | strip }}][{{ ' s ' | lstrip }}][{{ ' s ' | rstrip }}]", "[s][s ][ s]"},
        {"{{ 'a\\r\\nb\\n' | strip_newlines }} {{ 'a\\r\\nb\\n' | newline_to_br }}",
         "ab a<br />b<br />"},
        {"{{ 'a-b-c' | replace: '-', '+' }} {{ 'aXbX' | replace_first: 'X', 'y' }} "
         "{{ 'aXbX' | replace_last: 'X', 'y' }}",
         "a+b+c aybX aXby"},
        {"{{ 'aXbX' | remove: 'X' }} {{ 'aXbX' | remove_first: 'X' }} "
         "{{ 'aXbX' | remove_last: 'X' }} {{ 'a' | remove: '' }}",
         "ab abX aXb a"},
        {"{{ 'Hello' | slice: 1, 3 }} {{ 'Hello' | slice: -3, 2 }} {{ 'Hello' | slice: 1 }}"
         "{{ 'a' | slice: 5 }}{{ 'abc' | slice: 2, 9 }}",
         "ell ll ec"},
        {"{{ 'a😀b' | size }}{{ 'a😀b' | slice: 3, 1 }}{{ 'é😀' | last }}", "4b😀"},
        {"{{ 'a,,b,' | split: ',' | json }}{{ 'ab' | split: '' | json }}{{ '' | split: ',' | size "
         "}}",
         "[\"a\",\"b\"][\"a\",\"b\"]0"},
        {"{{ 'Hello World' | truncate: 5 }} {{ 'abc' | truncate: 5 }} "
         "{{ 'Hello' | truncate: 4, '!' }} {{ 'Hello' | truncate: 1 }}",
         "He... abc Hel! ..."},
        {"{{ ' one  two three' | truncatewords: 2 }} {{ 'abc' | truncatewords: 1 }} "
         "{{ 'abc d' | truncatewords: 5, '!' }}{{ nil | truncatewords: 1 }}",
         "one two... abc... abc d"},
    };
    static const struct example raises[] = {
        {"{{ 'a' | replace: '', 'b' }}", "ArgumentException"},
        {"{{ 'a' | slice: 'x' }}", "Slice: offset argument is an invalid number"},
        {"{{ 'a' | slice: 1, 1.5 }}", "Slice: length argument is not a number"},
    };

    (void)state;
    assert_renders(examples);
    assert_raises(raises);
}

static void works_on_arrays(void **state)
{
    static const struct example examples[] = {
        {"{{ Variables.Nums | join: '-' }} {{ Variables.Nums | join }} {{ 'a' | join: '-' }}",
         "3-1-2 312 a"},
        {"{{ Variables.Nums | first }}{{ Variables.Nums | last }}{{ Variables.Nums | size }}"
         "{{ 'abc' | first }}{{ 'abc' | last }}{{ nil | first }}",
         "323ac"},
        {"{{ Variables.Nums | concat: Variables.Words | join: '+' }}", "3+1+2+b+a+C"},
        {"{{ Variables.Nums | concat: Variables.Nope | join: '+' }}", "3+1+2+"},
        {"{{ Variables.Items | map: 'b' | join: ',' }} {{ nil | map: 'b' }}|", "q,p,r |"},
        {"{{ Variables.Items | where: 'a', 1 | map: 'b' }} {{ Variables.Items | where: 'a' | size "
         "}} {{ Variables.Items | reject: 'a', 1 | size }}",
         "p 2 2"},
        {"{{ Variables.Nums | reverse }} {{ 'abc' | reverse | join: ',' }} {{ 5 | reverse }}",
         "213 c,b,a 5"},
        {"{{ Variables.Nums | sort | join: ' ' }} {{ Variables.Words | sort }} "
         "{{ Variables.Words | sort_natural }}",
         "1 2 3 Cab abC"},
        {"{{ Variables.Items | sort: 'a' | map: 'b' }} {{ '10,9' | split: ',' | sort }}",
         "rpq 109"},
        {"{{ Variables.Nums | concat: Variables.Nums | uniq | join: ',' }}", "3,1,2"},
        {"{{ Variables.Nums | concat: nil | compact | size }}", "3"},
        {"{{ Variables.Nums | sum }} {{ Variables.Items | sum: 'a' }} {{ nil | sum }}", "6 3 0"},
        {"{{ Variables.Nums | slice: 1, 5 | join: ',' }} {{ Variables.Nums | slice: -9 | size }}",
         "1,2 0"},
        {"{{ Variables.Item | keys | join: ',' }}", "name,price,tags,deep"},
    };
    static const struct example raises[] = {
        {"{{ 'a' | keys }}", "ArgumentOutOfRangeException"},
    };

    (void)state;
    assert_renders(examples);
    assert_raises(raises);
}

static void falls_back_and_serialises(void **state)
{
    static const struct example examples[] = {
        {"{{ nil | default: 'd' }}{{ '' | default: 'e' }}{{ false | default: 'f' }}"
         "{{ Variables.Empty | default: 'g' }}{{ 0 | default: 'h' }}{{ true | default: 'i' }}",
         "defg0true"},
        {"{{ false | default: 'f', allow_false: true }}", "false"},
        /* An object is equal to empty, whatever it has; so is the first of an array of them. */
        {"{{ Variables.Item | default: 'd' }}{{ Variables.Items['name'] | default: 'e' }}"
         "{{ Variables.Items[0] | default: 'f' }}{{ Variables.Items[0].b | default: 'g' }}"
         "{{ Variables.Items.name | default: 'h' }}{{ Variables.Words['x'] | default: 'i' }}",
         "defqhb"},
        {"{{ 'a\"<é' | json }} {{ 1.50 | json }} {{ true | json }} {{ nil | json }}",
         "\"a\\u0022\\u003C\\u00E9\" 1.50 true null"},
        {"{{ Variables.Item | json }}",
         "{\"name\":\"Pen\",\"price\":12.5,\"tags\":[\"x\",\"y\"],\"deep\":{\"k\":1}}"},
        {"{{ Variables.Nums | json: true }}", "[\n  3,\n  1,\n  2\n]"},
        {"{{ Variables.When | json }}", "\"2024-02-29T12:00:00+00:00\""},
        {"{{ '<b>' | raw }}", "<b>"},
    };

    (void)state;
    assert_renders(examples);
}

static void writes_for_the_web(void **state)
{
    static const struct example examples[] = {
        {"{{ \"<a href='x'>&\\\"é\" | escape }}", "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&#233;"},
        {"{{ '1 &lt; 2 & 3 &#39;' | escape_once }}", "1 &lt; 2 &amp; 3 &#39;"},
        {"{{ '<p>x</p> y' | strip_html }}", "x y"},
        {"{{ 'a b&c/é-_.' | url_encode }} {{ 'a+b%26c%C3%A9%zz' | url_decode }}",
         "a+b%26c%2F%C3%A9-_. a b&cé%zz"},
        {"{{ 'camelCaseURLName' | handleize }} {{ 'X' | handle }}", "camel-case-url-name x"},
        {"{{ 'Hello World' | base64 }} {{ true | base64 }} {{ Variables.Nums | base64 }}"
         "{{ nil | base64 }}|{{ 1.5 | base64 }}",
         "SGVsbG8gV29ybGQ= VHJ1ZQ== WzMsMSwyXQ==|MS41"},
        {"{{ 'a?>' | base64_encode }} {{ 'YT8+' | base64_decode }}", "YT8+ a?>"},
        {"{{ 'a?>' | base64_url_safe_encode }} {{ 'YT8-' | base64_url_safe_decode }}", "YT8- a?>"},
        {"{{ '/w==' | base64_decode }}", "\xef\xbf\xbd"},
    };
    static const struct example raises[] = {
        {"{{ '!' | base64_decode }}", "FormatException"},
    };

    (void)state;
    assert_renders(examples);
    assert_raises(raises);
}

static void formats_dates(void **state)
{
    static const struct example examples[] = {
        {"{{ '2024-03-01' | date: '%Y/%m/%d' }} {{ Variables.When | date: '%F %T' }}",
         "2024/03/01 2024-02-29 12:00:00"},
        {"{{ Variables.Offset | date: '%a %A %b %B %-d %e %y %C' }}",
         "Thu Thursday Feb February 29 29 24 20"},
        {"{{ Variables.Offset | date: '%H %I %k %l %M %S %L %N %p %P' }}",
         "12 12 12 12 30 15 123 123456700 PM pm"},
        {"{{ '2024-01-05T03:04:05Z' | date: '%-m %_d %e %3d %^a %j %u %w %s' }}",
         "1  5  5 005 FRI 005 5 5 1704423845"},
        {"{{ Variables.Offset | date: '%z %:z %Z %D %R %r %v %%%q%n' }}",
         "+0200 +02:00 +02:00 02/29/24 12:30 12:30:15 PM 29-Feb-2024 %%q\n"},
        {"{{ '2024-12-30' | date: '%G-%V %g %U %W' }}", "2025-01 25 52 53"},
        {"{{ 'now' | date: '%c' }} {{ 0 | date: '%x %X' }}",
         "Friday, 02 January 2026 03:04:05 01/01/1970 00:00"},
        {"{{ '2024' | date: '%F' }} {{ '2024-05' | date: '%F' }}", "2024-01-01 2024-05-01"},
        {"{{ 'x' | date: '%F' }}{{ nil | date: '%F' }}{{ 'now' | date }}|", "|"},
        {"{{ Variables.When | time_zone: '+02:00' | date: '%F %T %z' }}",
         "2024-02-29 14:00:00 +0200"},
        {"{{ Variables.Offset | time_zone: 'UTC' | date: '%T' }}", "10:30:15"},
        {"{{ Variables.When | time_zone: 'Europe/Berlin' | date: '%F %T %z' }}",
         "2024-02-29 13:00:00 +0100"},
        {"{{ '2024-07-01T23:30:00Z' | time_zone: 'Europe/Berlin' | date: '%F %T %z' }}",
         "2024-07-02 01:30:00 +0200"},
        {"{{ Variables.Offset | time_zone: 'Mars/Base' | date: '%F %T %z' }}",
         "2024-02-29 12:30:15 +0200"},
        {"{{ Variables.Offset | format_date: 'yyyy-MM-dd HH:mm:ss.fff zzz' }}",
         "2024-02-29 12:30:15.123 +02:00"},
        {"{{ Variables.Offset | format_date: \"dddd d MMM yy h:m tt 'at' \" }}{{ nil | format_date "
         "}}",
         "Thursday 29 Feb 24 12:30 PM at "},
        {"{{ Variables.When | format_date: 'd' }} {{ Variables.When | format_date: 'o' }}",
         "02/29/2024 2024-02-29T12:00:00.0000000+00:00"},
    };

    static const struct example raises[] = {
        {"{{ 'now' | time_zone: 'Broken/Zone' }}", "there is no time zone database"},
        {"{% for i in (1..30000) %}{{ 'now' | time_zone: 'Europe/Berlin' }}{% endfor %}",
         "too many"},
    };

    (void)state;
    assert_renders(examples);
    assert_raises(raises);
}

static void formats_numbers_and_texts(void **state)
{
    static const struct example examples[] = {
        {"{{ 12345.678 | format_number: 'N1' }} {{ 12345.678 | format_number: 'N' }} "
         "{{ -1234567 | format_number: 'N0' }} {{ -123 | format_number: 'N0' }}",
         "12,345.7 12,345.68 -1,234,567 -123"},
        {"{{ 1.5 | format_number: 'F3' }} {{ 7 | format_number: 'D3' }} {{ 0.125 | format_number: "
         "'P1' }} {{ 5 | format_number: 'C' }}",
         "1.500 007 12.5 % ¤5.00"},
        {"{{ 1234.5 | format_number: '#,##0.00' }} {{ 0.5 | format_number: '#.##' }} "
         "{{ 3 | format_number: '0.#' }} {{ 3 | format_number: 'x0y' }}{{ 3 | format_number }}",
         "1,234.50 .5 3 x3y"},
        {"{{ 'a {0} {{b}} {1:N1} {0}' | format_string: 'x', 2 }}", "a x {b} 2.0 x"},
        {"{{ '{0:yyyy}' | format_string: Variables.When }}{{ nil | format_string }}|", "2024|"},
    };
    static const struct example raises[] = {
        {"{{ '{1}' | format_string: 1 }}", "FormatException"},
        {"{{ '{x' | format_string: 1 }}", "FormatException"},
    };

    (void)state;
    assert_renders(examples);
    assert_raises(raises);
}

static void digests(void **state)
{
    static const struct example examples[] = {
        {"{{ 'abc' | md5 }}", "900150983cd24fb0d6963f7d28e17f72"},
        {"{{ 'abc' | sha1 }}", "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {"{{ 'abc' | sha256 }}",
         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"{{ '12345678901234567890123456789012345678901234567890123456789012345678901234567890' | "
         "md5 }}",
         "57edf4a22be3c955ac49da2e2107b67a"},
        {"{{ 'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq' | sha1 }}",
         "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
        {"{{ '' | md5 }}{{ nil | sha1 }}{{ '' | sha256 }}|", "|"},
    };

    (void)state;
    assert_renders(examples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calculates),
        cmocka_unit_test(changes_texts),
        cmocka_unit_test(works_on_arrays),
        cmocka_unit_test(falls_back_and_serialises),
        cmocka_unit_test(writes_for_the_web),
        cmocka_unit_test(formats_dates),
        cmocka_unit_test(formats_numbers_and_texts),
        cmocka_unit_test(digests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
