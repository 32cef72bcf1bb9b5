/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The brief form, see brief.h. Writer and reader remember the same strings in the same order; all
 * else that they share is the meaning of the first byte of a value.
 */
#include "base/json/brief.h"

#include "base/decimal.h"

enum tag {
    TAG_NULL,
    TAG_FALSE,
    TAG_TRUE,
    TAG_INT,
    TAG_NUMBER,
    TAG_STRING,
    TAG_HEX_LOWER,
    TAG_HEX_UPPER,
    TAG_KEPT,
    TAG_LIKE,
    TAG_ARRAY,
    TAG_OBJECT,
    TAG_WORD,
    TAG_SMALL_INT = 0x10,
    TAG_SMALL_OBJECT = 0x40,
    TAG_SMALL_ARRAY = 0x60,
    TAG_SMALL_WORD = 0x80,
};
#define SMALL_INTS 48u
#define SMALL_COUNTS 32u
#define SMALL_WORDS 128u

/* A reference to one farther back would hardly be shorter than what it stands for. */
#define BRIEF_KEPT_MAX 4096u
#define KEPT_LEN_MIN 4u
#define LIKE_LEN_MIN 16u
#define LIKE_LEN_MAX (PAWL_BRIEF_LIKE_MAX - 1u)
#define LIKE_SHARED_MIN 4u
#define HEX_LEN_MIN 16u

/* ---- words ------------------------------------------------------------------------------- */

/* In the machine's order: nothing of it leaves the process. */
static uint64_t load8(const char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t load4(const char *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static inline struct pawl_brief_probe probe_of(struct pawl_str s)
{
    struct pawl_brief_probe p = {.s = s};

    if (s.len >= 8) {
        p.head = load8(s.ptr);
        p.tail = load8(s.ptr + s.len - 8);
    } else if (s.len >= 4) {
        p.head = load4(s.ptr);
        p.tail = load4(s.ptr + s.len - 4);
    } else {
        for (size_t i = 0; i < s.len; i++)
            p.head = p.head << 8 | (unsigned char)s.ptr[i];
    }
    return p;
}

static inline bool is_same(const struct pawl_brief_probe *p, struct pawl_str s, uint64_t head,
                           uint64_t tail)
{
    return p->s.len == s.len && p->head == head && p->tail == tail &&
           (s.len <= 16 || memcmp(p->s.ptr, s.ptr, s.len) == 0);
}

static inline uint32_t hash(const struct pawl_brief_probe *p)
{
    uint64_t h = (p->head ^ p->s.len) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)((h ^ p->tail) * UINT64_C(0xbf58476d1ce4e5b9) >> 40);
}

#define WORD_SLOTS (sizeof((struct pawl_words *)NULL)->slots / sizeof(uint16_t))
_Static_assert((WORD_SLOTS & (WORD_SLOTS - 1)) == 0, "a power of two");

void pawl__words_init(struct pawl_words *words, const struct pawl_str *items, uint32_t count)
{
    PAWL_ASSERT(count <= PAWL_WORDS_MAX);
    *words = (struct pawl_words){.items = items, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        struct pawl_brief_probe p = probe_of(items[i]);
        size_t slot = hash(&p) % WORD_SLOTS;

        words->ends[i][0] = p.head;
        words->ends[i][1] = p.tail;
        while (words->slots[slot] != 0)
            slot = (slot + 1) % WORD_SLOTS;
        words->slots[slot] = (uint16_t)(i + 1);
    }
}

static inline bool find_word(const struct pawl_words *words, const struct pawl_brief_probe *p,
                             uint32_t h, uint32_t *number)
{
    for (size_t slot = h % WORD_SLOTS; words->slots[slot] != 0; slot = (slot + 1) % WORD_SLOTS) {
        uint32_t at = words->slots[slot] - 1u;

        if (is_same(p, words->items[at], words->ends[at][0], words->ends[at][1])) {
            *number = at;
            return true;
        }
    }
    return false;
}

/* ---- writing ----------------------------------------------------------------------------- */

static void fail(struct pawl_brief_writer *w, int status)
{
    if (w->out->status == PAWL_OK)
        w->out->status = status;
}

static void put_byte(struct pawl_brief_writer *w, uint32_t byte)
{
    pawl__buf_byte(w->out, (char)(unsigned char)byte);
}

static void put_number(struct pawl_brief_writer *w, uint64_t number)
{
    for (; number > 0x7f; number >>= 7)
        put_byte(w, 0x80 | (uint32_t)(number & 0x7f));
    put_byte(w, (uint32_t)number);
}

static void put_count(struct pawl_brief_writer *w, uint32_t count, enum tag small, enum tag large)
{
    if (count < SMALL_COUNTS) {
        put_byte(w, small + count);
        return;
    }
    put_byte(w, large);
    put_number(w, count);
}

void pawl__brief_int(struct pawl_brief_writer *w, int64_t value)
{
    if (value >= 0 && value < SMALL_INTS) {
        put_byte(w, TAG_SMALL_INT + (uint32_t)value);
        return;
    }
    put_byte(w, TAG_INT);
    put_number(w, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void put_number_text(struct pawl_brief_writer *w, struct pawl_str text)
{
    if (text.len == 0)
        fail(w, PAWL_EINVAL);
    put_byte(w, TAG_NUMBER);
    put_number(w, text.len);
    pawl__buf_str(w->out, text);
}

static void put_double(struct pawl_brief_writer *w, double value)
{
    char text[PAWL_DECIMAL_SIZE];

    put_number_text(w, pawl__str_make(text, pawl__decimal_from_double(value, text)));
}

static void remember(struct pawl_brief_writer *w, const struct pawl_brief_probe *p,
                     struct pawl_brief_seen *place)
{
    if (w->kept == BRIEF_KEPT_MAX)
        return;
    *place = (struct pawl_brief_seen){*p, w->kept++};
    if (p->s.len >= LIKE_LEN_MIN && p->s.len <= LIKE_LEN_MAX)
        w->by_len[p->s.len] = p->s;
}

/* Of a digit its value with 0x80, and 0x10 for a lower-case letter, 0x20 for an upper-case one. */
/* clang-format off */
static const unsigned char digits[256] = {
    ['0'] = 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89,
    ['a'] = 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f,
    ['A'] = 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf,
};
/* clang-format on */

static bool put_hex(struct pawl_brief_writer *w, struct pawl_str s)
{
    unsigned all = 0x80, any = 0;
    char *to;

    if (s.len < HEX_LEN_MIN || s.len % 2 != 0 || !(digits[(unsigned char)s.ptr[0]] & 0x80))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        all &= digits[(unsigned char)s.ptr[i]];
        any |= digits[(unsigned char)s.ptr[i]];
    }
    if (all == 0 || (any & 0x30) == 0x30)
        return false;
    put_byte(w, any & 0x20 ? TAG_HEX_UPPER : TAG_HEX_LOWER);
    put_number(w, s.len / 2);
    to = pawl__buf_reserve(w->out, s.len / 2);
    if (!to)
        return true;
    for (size_t i = 0; i < s.len; i += 2)
        *to++ = (char)((digits[(unsigned char)s.ptr[i]] & 15) << 4 |
                       (digits[(unsigned char)s.ptr[i + 1]] & 15));
    w->out->len += s.len / 2;
    return true;
}

static bool put_like(struct pawl_brief_writer *w, struct pawl_str s)
{
    struct pawl_str last;
    size_t shared = 0;

    if (s.len < LIKE_LEN_MIN || s.len > LIKE_LEN_MAX)
        return false;
    last = w->by_len[s.len];
    while (shared < last.len && last.ptr[shared] == s.ptr[shared])
        shared++;
    if (shared < LIKE_SHARED_MIN)
        return false;
    put_byte(w, TAG_LIKE);
    put_byte(w, (uint32_t)s.len);
    put_byte(w, (uint32_t)shared);
    pawl__buf_append(w->out, s.ptr + shared, s.len - shared);
    return true;
}

static bool is_utf8(const struct pawl_brief_probe *p)
{
    const uint64_t high = UINT64_C(0x8080808080808080);

    return (p->s.len <= 16 && ((p->head | p->tail) & high) == 0) || pawl__utf8_valid(p->s);
}

/* What is read back has another length: a later string cannot be like it. */
static void put_malformed(struct pawl_brief_writer *w, const struct pawl_brief_probe *p,
                          struct pawl_brief_seen *place)
{
    char text[4];
    size_t len = 0;

    for (size_t at = 0; at < p->s.len;)
        len += pawl__utf8_encode(pawl__utf8_next(p->s, &at), text);
    put_byte(w, TAG_STRING);
    put_number(w, len);
    for (size_t at = 0; at < p->s.len;) {
        size_t bytes = pawl__utf8_encode(pawl__utf8_next(p->s, &at), text);

        pawl__buf_append(w->out, text, bytes);
    }
    if (len < KEPT_LEN_MIN || w->kept == BRIEF_KEPT_MAX)
        return;
    *place = (struct pawl_brief_seen){*p, w->kept++};
    if (len >= LIKE_LEN_MIN && len <= LIKE_LEN_MAX)
        w->by_len[len].len = 0;
}

static void put_new_string(struct pawl_brief_writer *w, const struct pawl_brief_probe *p,
                           struct pawl_brief_seen *place)
{
    if (!is_utf8(p)) {
        put_malformed(w, p, place);
        return;
    }
    if (!put_hex(w, p->s) && !put_like(w, p->s)) {
        put_byte(w, TAG_STRING);
        put_number(w, p->s.len);
        pawl__buf_str(w->out, p->s);
    }
    if (p->s.len >= KEPT_LEN_MIN)
        remember(w, p, place);
}

void pawl__brief_string(struct pawl_brief_writer *w, struct pawl_str s)
{
    struct pawl_brief_probe p = probe_of(s);
    uint32_t h = hash(&p), number;
    struct pawl_brief_seen *seen = &w->seen[(h >> 9) % PAWL_BRIEF_SEEN];

    if (find_word(w->words, &p, h, &number)) {
        if (number < SMALL_WORDS) {
            put_byte(w, TAG_SMALL_WORD + number);
        } else {
            put_byte(w, TAG_WORD);
            put_number(w, number);
        }
    } else if (s.len >= KEPT_LEN_MIN &&
               is_same(&p, seen->text.s, seen->text.head, seen->text.tail)) {
        put_byte(w, TAG_KEPT);
        put_number(w, w->kept - 1 - seen->number);
    } else {
        put_new_string(w, &p, seen);
    }
}

void pawl__brief_null(struct pawl_brief_writer *w)
{
    put_byte(w, TAG_NULL);
}

void pawl__brief_array(struct pawl_brief_writer *w, uint32_t count)
{
    put_count(w, count, TAG_SMALL_ARRAY, TAG_ARRAY);
}

void pawl__brief_object(struct pawl_brief_writer *w, uint32_t count)
{
    put_count(w, count, TAG_SMALL_OBJECT, TAG_OBJECT);
}

void pawl__brief_value(struct pawl_brief_writer *w, const struct pawl_json *value, uint32_t depth)
{
    if (depth == PAWL_JSON_DEPTH_MAX && pawl__json_type(value) >= PAWL_JSON_ARRAY)
        fail(w, PAWL_ELIMIT);
    if (w->out->status != PAWL_OK)
        return;
    switch (pawl__json_type(value)) {
    case PAWL_JSON_NULL:
        pawl__brief_null(w);
        break;
    case PAWL_JSON_BOOL:
        put_byte(w, value->u.boolean ? TAG_TRUE : TAG_FALSE);
        break;
    case PAWL_JSON_INT:
        pawl__brief_int(w, value->u.integer);
        break;
    case PAWL_JSON_DOUBLE:
        put_double(w, value->u.real);
        break;
    case PAWL_JSON_NUMBER:
        put_number_text(w, pawl__str_make(value->u.text, value->len));
        break;
    case PAWL_JSON_STRING:
        pawl__brief_string(w, pawl__str_make(value->u.text, value->len));
        break;
    case PAWL_JSON_ARRAY:
        pawl__brief_array(w, value->len);
        for (uint32_t i = 0; i < value->len; i++)
            pawl__brief_value(w, &value->u.items[i], depth + 1);
        break;
    case PAWL_JSON_OBJECT:
        pawl__brief_object(w, value->len);
        for (uint32_t i = 0; i < value->len; i++) {
            pawl__brief_string(w, value->u.members[i].key);
            pawl__brief_value(w, &value->u.members[i].value, depth + 1);
        }
        break;
    }
}

void pawl__brief_begin(struct pawl_brief_writer *w, struct pawl_buf *out,
                       const struct pawl_words *words)
{
    w->out = out;
    w->words = words;
    w->kept = 0;
    for (size_t i = 0; i < PAWL_BRIEF_SEEN; i++)
        w->seen[i].text.s.len = 0;
    for (size_t i = LIKE_LEN_MIN; i <= LIKE_LEN_MAX; i++)
        w->by_len[i].len = 0;
    pawl__buf_byte(out, PAWL_BRIEF_MARK);
}

void pawl__brief_write(struct pawl_buf *out, const struct pawl_json *value,
                       const struct pawl_words *words)
{
    struct pawl_brief_writer w;

    pawl__brief_begin(&w, out, words);
    pawl__brief_value(&w, value, 0);
}

/* ---- reading ----------------------------------------------------------------------------- */

#define KEPT_FIRST 64u

struct reading {
    struct pawl_arena *arena;
    const unsigned char *at;
    const unsigned char *end;
    const struct pawl_words *words;
    struct pawl_str *kept;
    uint32_t kept_count;
    uint32_t kept_cap;
    struct pawl_str first[KEPT_FIRST]; /* `kept`, until there are more */
    struct pawl_str by_len[PAWL_BRIEF_LIKE_MAX];
};

static int no_memory(const struct reading *r)
{
    return pawl__arena_status(r->arena);
}

static size_t left(const struct reading *r)
{
    return (size_t)(r->end - r->at);
}

static int get_number(struct reading *r, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        unsigned char byte = *r->at++;

        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return PAWL_OK;
    }
    return PAWL_EPARSE;
}

/* Of `unit` bytes each at the least, so that no count makes us take memory for what is not there.
 */
static int get_count(struct reading *r, size_t unit, uint32_t *out)
{
    uint64_t count;
    int status = get_number(r, &count);

    if (status != PAWL_OK)
        return status;
    if (count > left(r) / unit || count > UINT32_MAX)
        return PAWL_EPARSE;
    *out = (uint32_t)count;
    return PAWL_OK;
}

static int keep(struct reading *r, struct pawl_str s)
{
    struct pawl_str *larger;

    if (s.len < KEPT_LEN_MIN || r->kept_count == BRIEF_KEPT_MAX)
        return PAWL_OK;
    if (r->kept_count == r->kept_cap) {
        larger = pawl__arena_alloc_array(r->arena, r->kept_cap * 4u, sizeof *larger);
        if (!larger)
            return no_memory(r);
        memcpy(larger, r->kept, r->kept_count * sizeof *larger);
        r->kept = larger;
        r->kept_cap *= 4;
    }
    r->kept[r->kept_count++] = s;
    if (s.len >= LIKE_LEN_MIN && s.len <= LIKE_LEN_MAX)
        r->by_len[s.len] = s;
    return PAWL_OK;
}

static int get_text(struct reading *r, struct pawl_str *out)
{
    uint32_t len;
    int status = get_count(r, 1, &len);

    if (status != PAWL_OK)
        return status;
    *out = pawl__str_make((const char *)r->at, len);
    r->at += len;
    return PAWL_OK;
}

static int get_literal(struct reading *r, struct pawl_str *out)
{
    struct pawl_str text;
    int status = get_text(r, &text);

    if (status != PAWL_OK)
        return status;
    if (!pawl__utf8_valid(text))
        return PAWL_EPARSE;
    *out = pawl__arena_str(r->arena, text);
    return out->ptr ? keep(r, *out) : no_memory(r);
}

static int get_hex(struct reading *r, const char *of, struct pawl_str *out)
{
    uint32_t count;
    char *to;
    int status = get_count(r, 1, &count);

    if (status != PAWL_OK)
        return status;
    if (count > UINT32_MAX / 2 || count * 2 < HEX_LEN_MIN)
        return PAWL_EPARSE;
    to = pawl__arena_alloc_aligned(r->arena, (size_t)count * 2 + 1, 1);
    if (!to)
        return no_memory(r);
    *out = pawl__str_make(to, (size_t)count * 2);
    for (uint32_t i = 0; i < count; i++) {
        *to++ = of[*r->at >> 4];
        *to++ = of[*r->at++ & 15];
    }
    *to = '\0';
    return keep(r, *out);
}

static int get_kept(struct reading *r, struct pawl_str *out)
{
    uint64_t back;
    int status = get_number(r, &back);

    if (status != PAWL_OK)
        return status;
    if (back >= r->kept_count)
        return PAWL_EPARSE;
    *out = r->kept[r->kept_count - 1 - back];
    return PAWL_OK;
}

static int get_like(struct reading *r, struct pawl_str *out)
{
    size_t len, shared;
    char *text;

    if (left(r) < 2)
        return PAWL_EPARSE;
    len = *r->at++;
    shared = *r->at++;
    if (len < LIKE_LEN_MIN || len > LIKE_LEN_MAX || shared > len || len - shared > left(r) ||
        r->by_len[len].len != len)
        return PAWL_EPARSE;
    text = pawl__arena_alloc_aligned(r->arena, len + 1, 1);
    if (!text)
        return no_memory(r);
    memcpy(text, r->by_len[len].ptr, shared);
    memcpy(text + shared, r->at, len - shared);
    text[len] = '\0';
    r->at += len - shared;
    *out = pawl__str_make(text, len);
    return pawl__utf8_valid(*out) ? keep(r, *out) : PAWL_EPARSE;
}

static int get_word(struct reading *r, uint64_t number, struct pawl_str *out)
{
    if (number >= r->words->count)
        return PAWL_EPARSE;
    *out = r->words->items[number];
    return PAWL_OK;
}

/* PAWL_EPARSE also for what is no string. */
static int get_string(struct reading *r, unsigned tag, struct pawl_str *out)
{
    uint64_t number;
    int status;

    if (tag >= TAG_SMALL_WORD)
        return get_word(r, tag - TAG_SMALL_WORD, out);
    switch (tag) {
    case TAG_STRING:
        return get_literal(r, out);
    case TAG_HEX_LOWER:
        return get_hex(r, "0123456789abcdef", out);
    case TAG_HEX_UPPER:
        return get_hex(r, "0123456789ABCDEF", out);
    case TAG_KEPT:
        return get_kept(r, out);
    case TAG_LIKE:
        return get_like(r, out);
    case TAG_WORD:
        status = get_number(r, &number);
        return status == PAWL_OK ? get_word(r, number, out) : status;
    default:
        return PAWL_EPARSE;
    }
}

static int get_value(struct reading *r, struct pawl_json *out, uint32_t depth);

static int get_array(struct reading *r, uint32_t count, struct pawl_json *out, uint32_t depth)
{
    int status = PAWL_OK;

    if (count > left(r) || depth == PAWL_JSON_DEPTH_MAX)
        return PAWL_EPARSE;
    *out = pawl__json_array();
    if (count == 0)
        return PAWL_OK;
    out->u.items = pawl__arena_alloc_array(r->arena, count, sizeof *out->u.items);
    if (!out->u.items)
        return no_memory(r);
    out->len = count;
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++)
        status = get_value(r, &out->u.items[i], depth + 1);
    return status;
}

static int get_object(struct reading *r, uint32_t count, struct pawl_json *out, uint32_t depth)
{
    int status = PAWL_OK;

    if (count > left(r) / 2 || depth == PAWL_JSON_DEPTH_MAX)
        return PAWL_EPARSE;
    *out = pawl__json_object();
    if (count == 0)
        return PAWL_OK;
    out->u.members = pawl__arena_alloc_array(r->arena, count, sizeof *out->u.members);
    if (!out->u.members)
        return no_memory(r);
    out->len = count;
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        if (r->at == r->end)
            return PAWL_EPARSE;
        status = get_string(r, *r->at++, &out->u.members[i].key);
        if (status == PAWL_OK)
            status = get_value(r, &out->u.members[i].value, depth + 1);
    }
    return status;
}

static int get_scalar(struct reading *r, unsigned tag, struct pawl_json *out)
{
    struct pawl_str text = {"", 0};
    uint64_t number;
    int status;

    switch (tag) {
    case TAG_NULL:
        *out = pawl__json_null();
        return PAWL_OK;
    case TAG_FALSE:
    case TAG_TRUE:
        *out = pawl__json_bool(tag == TAG_TRUE);
        return PAWL_OK;
    case TAG_INT:
        status = get_number(r, &number);
        *out = pawl__json_int((int64_t)(number >> 1 ^ (~(number & 1) + 1)));
        return status;
    case TAG_NUMBER:
        status = get_text(r, &text);
        return status == PAWL_OK ? pawl__json_number(r->arena, text, out) : status;
    default:
        status = get_string(r, tag, &text);
        if (status == PAWL_OK)
            *out = pawl__json_string(text);
        return status;
    }
}

static int get_value(struct reading *r, struct pawl_json *out, uint32_t depth)
{
    uint32_t count = 0;
    unsigned tag;
    int status;

    if (r->at == r->end)
        return PAWL_EPARSE;
    tag = *r->at++;
    if (tag >= TAG_SMALL_INT && tag < TAG_SMALL_OBJECT) {
        *out = pawl__json_int(tag - TAG_SMALL_INT);
        return PAWL_OK;
    }
    if (tag >= TAG_SMALL_ARRAY && tag < TAG_SMALL_WORD)
        return get_array(r, tag - TAG_SMALL_ARRAY, out, depth);
    if (tag >= TAG_SMALL_OBJECT && tag < TAG_SMALL_ARRAY)
        return get_object(r, tag - TAG_SMALL_OBJECT, out, depth);
    if (tag != TAG_ARRAY && tag != TAG_OBJECT)
        return get_scalar(r, tag, out);
    status = get_count(r, tag == TAG_OBJECT ? 2 : 1, &count);
    if (status != PAWL_OK)
        return status;
    return tag == TAG_OBJECT ? get_object(r, count, out, depth) : get_array(r, count, out, depth);
}

int pawl__brief_read(struct pawl_arena *arena, struct pawl_str bytes,
                     const struct pawl_words *words, struct pawl_json *out)
{
    struct reading r;
    struct pawl_json value;
    int status;

    if (!pawl__is_brief(bytes))
        return PAWL_EPARSE;
    r.arena = arena;
    r.at = (const unsigned char *)bytes.ptr + 1;
    r.end = (const unsigned char *)bytes.ptr + bytes.len;
    r.words = words;
    r.kept = r.first;
    r.kept_count = 0;
    r.kept_cap = KEPT_FIRST;
    memset(r.by_len, 0, sizeof r.by_len);
    status = get_value(&r, &value, 0);
    if (status == PAWL_OK && r.at != r.end)
        status = PAWL_EPARSE;
    if (status == PAWL_OK)
        *out = value;
    return status;
}
