/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash/sha256.h"
#include "lib/test.h"

#include <stdlib.h>

static void assert_digest(struct pawl_str s, const char *expected)
{
    char text[PAWL_SHA256_TEXT_SIZE];

    pawl__sha256_text(s, PAWL_HEX_LOWER, text);
    assert_string_equal(text, expected);
}

static void answers_the_published_digests(void **state)
{
    (void)state;
    assert_digest(pawl__str_make(NULL, 0),
                  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest(pawl__str("abc"),
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest(pawl__str("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_digest(pawl__str("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                            "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
                  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    assert_digest(pawl__str("\xbd"),
                  "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
}

static void hashes_a_million_letters(void **state)
{
    char *letters = malloc(1000000);

    (void)state;
    assert_non_null(letters);
    memset(letters, 'a', 1000000);
    assert_digest(pawl__str_make(letters, 1000000),
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(letters);
}

static void hashes_stimuli_as_elsa_does(void **state)
{
    char text[PAWL_SHA256_TEXT_SIZE];

    (void)state;
    pawl__sha256_text(pawl__str("Elsa.Event|{\"EventName\":\"OrderReceived\"}"), PAWL_HEX_UPPER,
                      text);
    assert_string_equal(text, "66A53643AF18D54235260621DF6F596E4ACCEF8D5F124595F2E0582A01676A19");
    pawl__sha256_text(pawl__str("Workflow1:Flowchart1:WriteLine1"), PAWL_HEX_UPPER, text);
    assert_string_equal(text, "FA259E5E882896691BF49F475FF13520005A5CF74F4B08CF239DEA525DDE3B5B");
}

/* Every length around the edges of blocks, cut at every place. */
static void gives_the_same_in_pieces_as_at_once(void **state)
{
    unsigned char bytes[200], whole[PAWL_SHA256_BYTES], pieces[PAWL_SHA256_BYTES];
    uint64_t random = 1;

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)test_random(&random);
    for (size_t length = 0; length <= sizeof bytes; length++) {
        pawl__sha256(pawl__str_make((const char *)bytes, length), whole);
        for (size_t cut = 0; cut <= length; cut++) {
            struct pawl_sha256 sha;

            pawl__sha256_init(&sha);
            pawl__sha256_update(&sha, bytes, cut);
            pawl__sha256_update(&sha, NULL, 0);
            pawl__sha256_update(&sha, bytes + cut, length - cut);
            pawl__sha256_final(&sha, pieces);
            assert_memory_equal(pieces, whole, sizeof whole);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_the_published_digests),
        cmocka_unit_test(hashes_a_million_letters),
        cmocka_unit_test(hashes_stimuli_as_elsa_does),
        cmocka_unit_test(gives_the_same_in_pieces_as_at_once),
    };

    return cmocka_run_group_tests_name("base/sha256", tests, NULL, NULL);
}
