/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes batches by chance. What the contract asks of its callers holds: commits of one batch
 * concern different instances and different done rows. Everything else is likely to collide:
 * reservations, settings, documents and stamps are few, and a PLAIN commit or that of another
 * instance may add mail to an instance.
 */
#include "contract/random_batch.h"

#define INSTANCES 4
#define LARGE_BYTES 70000
#define NODE 71 /* owns what is claimed */
#define OTHER_NODE 72
#define FENCE 3
#define REVISION 5
#define STAMP_VALUE 3

#define CHOICES 6
#define RESERVATIONS 0 /* which of them */
#define LONG_WORK 4

/* Tables of changes, and how likely are the kinds of these. */
static const struct {
    enum pawl_table table;
    int numbers;
    int kinds[PAWL_CHANGE_DELETE_OWNED + 2]; /* by enum pawl_change_kind */
} choices[CHOICES] = {
    {PAWL_TABLE_RESERVATIONS, 5, {50, 10, 20, 12, 8, -1}},
    {PAWL_TABLE_SETTINGS, 5, {2, 16, 56, 26, -1}},
    {PAWL_TABLE_DOCUMENTS, 4, {2, 16, 56, 26, -1}},
    {PAWL_TABLE_BOOKMARKS, 2, {15, 10, 41, 20, 14, -1}},
    {PAWL_TABLE_WORK, 3, {15, 17, 40, 18, 10, -1}},
    {PAWL_TABLE_JOURNAL, 2, {10, 9, 67, 6, 8, -1}},
};
/* How likely each of them is. */
static const int choice_weights[CHOICES + 1] = {36, 30, 8, 12, 9, 5, -1};

struct maker {
    struct contract *t;
    struct random_batch *batch;
    uint64_t state;
    int member;       /* that is being made */
    int apart;        /* percent of rows that other members do not use, but by chance */
    int instance;     /* whose rows are written; INSTANCES: of none */
    int main_kind;    /* of commits */
    int main_percent; /* of these */
    int strangers;    /* percent of rows that are of another instance than their commit's */
    int large;        /* percent of rows that are too large to be sent together with others */
    bool by_turns;    /* a commit writes one table after the other */
    bool deletes;     /* rows, too */
    bool puts;        /* whatever it adds, and each row once */
    int changes;      /* so many in each commit; 0: few */
    int long_work;    /* rows of work that are of no instance, if more than there are otherwise */
    int turn;
    int stamps, done; /* percent of commits that have one; the first is likely to have a stamp */
    int late;         /* percent of reservations that have expired */
    int numbers[CHOICES];    /* how many keys are used, of the choices above */
    int tables[CHOICES + 1]; /* their weights */
    uint32_t marks;          /* rows made so far: each differs from all others */
    bool used[INSTANCES], finished[2];
};

static int draw(struct maker *m, int below)
{
    return (int)(test_random(&m->state) % (uint64_t)below);
}

static bool chance(struct maker *m, int percent)
{
    return draw(m, 100) < percent;
}

/* A number by weight: they end with a negative one. */
static int pick(struct maker *m, const int *weights)
{
    int sum = 0, at = 0, drawn;

    for (const int *weight = weights; *weight >= 0; weight++)
        sum += *weight;
    for (drawn = draw(m, sum); drawn >= weights[at]; at++)
        drawn -= weights[at];
    return at;
}

/* ---- names ------------------------------------------------------------------------------- */

static struct pawl_str name(struct maker *m, const char *what, int number)
{
    return text(m->t, "%llu-%s%d", (unsigned long long)m->batch->seed, what, number);
}

static struct pawl_str instance_id(struct maker *m, int instance)
{
    return instance == INSTANCES ? pawl__str("") : name(m, "i", instance);
}

/* Different each time. */
static struct pawl_str mark(struct maker *m, bool may_be_large)
{
    struct pawl_str small = text(m->t, "mark %u", ++m->marks);
    char *large;

    if (!may_be_large || !chance(m, m->large))
        return small;
    large = pawl__arena_alloc(&m->t->arena, LARGE_BYTES);
    assert_non_null(large);
    memset(large, '.', LARGE_BYTES);
    memcpy(large, small.ptr, small.len);
    return pawl__str_make(large, LARGE_BYTES);
}

/* ---- rows -------------------------------------------------------------------------------- */

static int64_t some_due_us(struct maker *m)
{
    static const int64_t times[] = {PAWL_TIME_NEVER, RANDOM_PAST_US, RANDOM_LATER_US};
    static const int weights[] = {50, 35, 15, -1};

    return times[pick(m, weights)];
}

static void fill_work(struct maker *m, struct pawl_work_row *row, int number)
{
    *row = some_work(m->t, name(m, "w", m->instance * 3 + number), some_due_us(m));
    row->instance_id = instance_id(m, m->instance);
    row->hash = row->due_us == PAWL_TIME_NEVER ? name(m, "h", draw(m, 2)) : pawl__str("");
    row->correlation_id = pawl__str(chance(m, 30) ? "correlation" : "");
    row->name = mark(m, false);
    row->payload = mark(m, true);
}

static void fill_reservation(struct maker *m, struct pawl_reservation_row *row, int number)
{
    *row = (struct pawl_reservation_row){.key = name(m, "k", number),
                                         .instance_id = instance_id(m, m->instance),
                                         .value = mark(m, true),
                                         .expires_us =
                                             chance(m, m->late) ? RANDOM_PAST_US : PAWL_TIME_NEVER};
    if (chance(m, 50))
        row->instance_id = pawl__str("");
}

static void fill_document(struct maker *m, struct pawl_document_row *row, int number)
{
    *row = (struct pawl_document_row){.kind = name(m, "kind", 0),
                                      .id = name(m, "d", number),
                                      .name = name(m, "n", chance(m, 4) ? number ^ 1 : number),
                                      .expires_us = PAWL_TIME_NEVER,
                                      .data = mark(m, true)};
}

/* One of the few of its table. In the test's arena. */
static void *make_row(struct maker *m, enum pawl_table table, int number)
{
    void *row = pawl__arena_alloc_zeroed(&m->t->arena, pawl_table_info(table)->row_size);

    assert_non_null(row);
    switch ((int)table) {
    case PAWL_TABLE_BOOKMARKS: {
        struct pawl_bookmark_row *bookmark = row;

        *bookmark = some_bookmark(m->t, name(m, "b", m->instance * 2 + number),
                                  instance_id(m, m->instance), "");
        bookmark->hash = name(m, "h", draw(m, 2));
        bookmark->payload = mark(m, true);
        break;
    }
    case PAWL_TABLE_JOURNAL:
        *(struct pawl_journal_row *)row = some_journal(m->t, instance_id(m, m->instance), number);
        ((struct pawl_journal_row *)row)->data = mark(m, true);
        break;
    case PAWL_TABLE_SETTINGS:
        *(struct pawl_setting_row *)row =
            (struct pawl_setting_row){.key = name(m, "s", number), .value = mark(m, true)};
        break;
    case PAWL_TABLE_WORK:
        fill_work(m, row, number);
        break;
    case PAWL_TABLE_RESERVATIONS:
        fill_reservation(m, row, number);
        break;
    case PAWL_TABLE_DOCUMENTS:
        fill_document(m, row, number);
        break;
    default:
        fail_msg("no rows of table %d are made by chance", (int)table);
    }
    return row;
}

/* ---- what is there before ---------------------------------------------------------------- */

static struct random_table *table_of(struct random_batch *batch, enum pawl_table table)
{
    size_t i = 0;

    while (i < RANDOM_TABLES && batch->tables[i].table != table)
        i++;
    PAWL_ASSERT(i < RANDOM_TABLES);
    return &batch->tables[i];
}

static void add_id(struct maker *m, enum pawl_table which, struct pawl_str id)
{
    struct random_table *table = table_of(m->batch, which);

    assert_true(table->id_count < RANDOM_IDS_MAX);
    table->ids[table->id_count++].text = id;
}

static void add_row(struct maker *m, enum pawl_table which, const void *row)
{
    struct random_table *table = table_of(m->batch, which);
    size_t size = pawl_table_info(which)->row_size;

    if (!table->rows)
        table->rows = pawl__arena_alloc(&m->t->arena, RANDOM_IDS_MAX * size);
    assert_non_null(table->rows);
    memcpy(table->rows + table->row_count++ * size, row, size);
}

/* Idle, or claimed by this node or another one. */
static void add_instance(struct maker *m, int number)
{
    static const int64_t owners[] = {NODE, 0, OTHER_NODE};
    static const int weights[] = {60, 35, 5, -1};
    struct pawl_instance_row row = some_instance(m->t, instance_id(m, number));

    add_id(m, PAWL_TABLE_INSTANCES, row.id);
    add_id(m, PAWL_TABLE_JOURNAL, row.id);
    if (!chance(m, m->main_kind == PAWL_COMMIT_CREATE ? 30 : 75))
        return;
    row.owner = owners[pick(m, weights)];
    row.fence = FENCE;
    row.revision = REVISION;
    row.cancel_requested = chance(m, 15);
    row.retry_us = row.failures = chance(m, 15);
    row.state = mark(m, true);
    add_row(m, PAWL_TABLE_INSTANCES, &row);
}

static void add_rows(struct maker *m, enum pawl_table table, int count, int percent)
{
    for (int number = 0; number < count; number++) {
        void *row = make_row(m, table, number);

        if (table != PAWL_TABLE_JOURNAL && (table != PAWL_TABLE_DOCUMENTS || number == 0))
            add_id(m, table, *(const struct pawl_str *)row); /* every first column is a text */
        if (table == PAWL_TABLE_DOCUMENTS)
            ((struct pawl_document_row *)row)->name = name(m, "n", number);
        if (chance(m, percent))
            add_row(m, table, row);
    }
}

/* Work that this node has taken, or another one. */
static void add_taken_work(struct maker *m)
{
    for (int i = 0; i < 2; i++) {
        struct pawl_work_row row = some_work(m->t, name(m, "taken", i), RANDOM_PAST_US);

        row.owner = chance(m, 85) ? NODE : OTHER_NODE;
        add_id(m, PAWL_TABLE_WORK, row.id);
        if (chance(m, 85))
            add_row(m, PAWL_TABLE_WORK, &row);
    }
}

static void add_all_rows(struct maker *m)
{
    static const enum pawl_table tables[RANDOM_TABLES] = {
        PAWL_TABLE_INSTANCES, PAWL_TABLE_BOOKMARKS, PAWL_TABLE_WORK,      PAWL_TABLE_RESERVATIONS,
        PAWL_TABLE_JOURNAL,   PAWL_TABLE_SETTINGS,  PAWL_TABLE_DOCUMENTS, PAWL_TABLE_STAMPS};
    struct pawl_stamp_row stamp = {.name = name(m, "stamp", 0), .value = STAMP_VALUE};

    for (size_t i = 0; i < RANDOM_TABLES; i++)
        m->batch->tables[i].table = tables[i];
    for (m->instance = 0; m->instance < INSTANCES; m->instance++) {
        add_instance(m, m->instance);
        add_rows(m, PAWL_TABLE_BOOKMARKS, 2, 40);
        add_rows(m, PAWL_TABLE_WORK, 3, 25);
        add_rows(m, PAWL_TABLE_JOURNAL, 2, 15);
    }
    add_rows(m, PAWL_TABLE_WORK, m->long_work > 3 ? m->long_work : 3, 40);
    add_taken_work(m);
    m->instance = draw(m, INSTANCES + 1);
    add_rows(m, PAWL_TABLE_RESERVATIONS, 5, 30);
    add_rows(m, PAWL_TABLE_SETTINGS, 5, 40);
    add_rows(m, PAWL_TABLE_DOCUMENTS, 4, 40);
    add_id(m, PAWL_TABLE_STAMPS, stamp.name);
    if (chance(m, 50))
        add_row(m, PAWL_TABLE_STAMPS, &stamp);
}

static bool has_same_key(enum pawl_table table, const void *one, const void *other)
{
    const struct pawl_table_info *info = pawl_table_info(table);

    for (uint32_t i = 0; i < info->key_count; i++) {
        const struct pawl_column *column = &info->columns[i];
        const void *a = (const char *)one + column->offset,
                   *b = (const char *)other + column->offset;

        if (column->type == PAWL_COLUMN_INT
                ? *(const int64_t *)a != *(const int64_t *)b
                : !pawl__str_equal(*(const struct pawl_str *)a, *(const struct pawl_str *)b))
            return false;
    }
    return true;
}

/* NULL: it is not there. */
static const void *find_before(struct maker *m, enum pawl_table which, const void *key)
{
    const struct random_table *table = table_of(m->batch, which);

    for (size_t i = 0; i < table->row_count; i++) {
        const char *row = table->rows + i * pawl_table_info(which)->row_size;

        if (has_same_key(which, row, key))
            return row;
    }
    return NULL;
}

/* ---- members ----------------------------------------------------------------------------- */

/* The member's own, or any. */
static int choose_number(struct maker *m, int count)
{
    return chance(m, m->apart) ? m->member % count : draw(m, count);
}

static int next_choice(struct maker *m)
{
    do {
        m->turn = (m->turn + 1) % CHOICES;
    } while (m->tables[m->turn] == 0);
    return m->turn;
}

static struct pawl_change make_change(struct maker *m, int own_instance)
{
    int choice = m->by_turns ? next_choice(m) : pick(m, m->tables);
    struct pawl_change change = {.table = choices[choice].table};

    change.kind = (enum pawl_change_kind)pick(m, choices[choice].kinds);
    m->instance = own_instance;
    if (own_instance == INSTANCES
            ? change.table != PAWL_TABLE_WORK && change.table != PAWL_TABLE_RESERVATIONS
            : chance(m, m->strangers))
        m->instance = choose_number(m, INSTANCES);
    change.row = make_row(m, change.table, choose_number(m, m->numbers[choice]));
    return change;
}

/* Whether the commit deletes a reservation before it comes to this one, perhaps the same. */
static bool frees_key(struct maker *m, const struct random_member *member,
                      const struct pawl_reservation_row *row)
{
    const struct pawl_reservation_row *before = find_before(m, PAWL_TABLE_RESERVATIONS, row);

    for (size_t i = 0; i < member->commit.change_count; i++)
        if (member->changes[i].table == PAWL_TABLE_RESERVATIONS &&
            member->changes[i].kind >= PAWL_CHANGE_DELETE)
            return true;
    return member->commit.kind == PAWL_COMMIT_DELETE && before && before->instance_id.len > 0;
}

/* What is there, but for the reservations of others, is an error of the whole batch: it is then
 * sent one by one, which is of little interest here. */
static bool would_fail(struct maker *m, const struct random_member *member,
                       const struct pawl_change *change)
{
    if (change->kind != PAWL_CHANGE_INSERT)
        return false;
    if (change->table == PAWL_TABLE_RESERVATIONS && frees_key(m, member, change->row))
        return true;
    for (size_t i = 0; i < member->commit.change_count; i++)
        if (member->changes[i].table == change->table &&
            has_same_key(change->table, member->changes[i].row, change->row))
            return chance(m, 95);
    return change->table != PAWL_TABLE_RESERVATIONS && find_before(m, change->table, change->row) &&
           chance(m, 95);
}

/* A row that is put twice cannot be sent with others: the batch is then sent one by one. */
static bool is_put_before(const struct random_member *member, const struct pawl_change *change)
{
    for (size_t i = 0; i < member->commit.change_count; i++)
        if (member->changes[i].table == change->table &&
            member->changes[i].kind == PAWL_CHANGE_PUT &&
            has_same_key(change->table, member->changes[i].row, change->row))
            return true;
    return false;
}

static void add_change(struct maker *m, struct random_member *member, int instance)
{
    struct pawl_change change = make_change(m, instance);

    if (m->puts && change.kind < PAWL_CHANGE_DELETE && is_put_before(member, &change) &&
        chance(m, 97))
        return;
    if (m->puts && change.kind == PAWL_CHANGE_DELETE_OWNED && chance(m, 95))
        change.kind = PAWL_CHANGE_DELETE; /* or all the others would have to keep their order */

    if (would_fail(m, member, &change) || (change.kind >= PAWL_CHANGE_DELETE && !m->deletes) ||
        (change.kind < PAWL_CHANGE_DELETE && m->puts))
        change.kind = PAWL_CHANGE_PUT;
    member->changes[member->commit.change_count++] = change;
}

static int choose_instance(struct maker *m, enum pawl_commit_kind kind)
{
    int best = INSTANCES;

    for (int tries = 0; tries < 8; tries++) {
        struct pawl_instance_row row = {.id = {NULL, 0}};
        int drawn = draw(m, INSTANCES);

        if (m->used[drawn])
            continue;
        best = drawn;
        row.id = instance_id(m, drawn);
        if ((find_before(m, PAWL_TABLE_INSTANCES, &row) == NULL) == (kind == PAWL_COMMIT_CREATE))
            return drawn;
    }
    return best;
}

static uint32_t some_flags(struct maker *m, enum pawl_commit_kind kind)
{
    static const uint32_t of_advances[] = {
        0, PAWL_COMMIT_KEEP, PAWL_COMMIT_REOPEN, PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE,
        PAWL_COMMIT_KEEP | PAWL_COMMIT_SET_ASIDE | PAWL_COMMIT_END};
    static const int weights[] = {80, 8, 4, 4, 4, -1};
    uint32_t flags = 0;

    if (kind != PAWL_COMMIT_CREATE && kind != PAWL_COMMIT_ADVANCE)
        return 0;
    if (kind == PAWL_COMMIT_ADVANCE)
        flags = of_advances[pick(m, weights)];
    return flags | (chance(m, 40) ? PAWL_COMMIT_RELEASE : 0) |
           (chance(m, 30) ? PAWL_COMMIT_UNASKED : 0);
}

/* The row of its commit: as claimed, or read by a visit, and now and then wrong. */
static void fill_instance(struct maker *m, struct random_member *member, int instance)
{
    struct pawl_commit *commit = &member->commit;
    struct pawl_instance_row *row = &member->row;
    const struct pawl_instance_row *before;

    *row = some_instance(m->t, instance_id(m, instance));
    before = find_before(m, PAWL_TABLE_INSTANCES, row);
    row->owner = NODE;
    row->fence = FENCE;
    row->revision = REVISION;
    row->updated_us = before ? before->updated_us : 0;
    commit->visited_us = row->updated_us + chance(m, 8);
    if (commit->kind == PAWL_COMMIT_ADVANCE && before && before->owner == 0 &&
        (commit->flags & ~(PAWL_COMMIT_RELEASE | PAWL_COMMIT_UNASKED)) == 0) {
        commit->flags |= PAWL_COMMIT_VISITED;
        row->fence++;
    }
    if (commit->kind == PAWL_COMMIT_CREATE)
        row->cancel_requested = chance(m, 15);
    row->revision += chance(m, 6);
    row->fence += chance(m, 4);
    row->updated_us += chance(m, 50);
    row->runnable = chance(m, 30);
    row->failures = chance(m, 10);
    row->trouble = mark(m, false);
    row->name = mark(m, false);
    row->state = mark(m, true);
    commit->instance = row;
}

static void add_done(struct maker *m, struct random_member *member)
{
    struct pawl_commit *commit = &member->commit;
    int number = draw(m, 2);

    if (m->finished[number])
        return;
    m->finished[number] = true;
    member->done[0] = name(m, "taken", number);
    commit->done = member->done;
    commit->done_count = 1;
    commit->done_owner = chance(m, 90) ? NODE : OTHER_NODE;
    if (chance(m, 30)) { /* it is put off */
        struct pawl_work_row *again;

        m->instance = INSTANCES;
        again = make_row(m, PAWL_TABLE_WORK, 0);
        again->id = member->done[0];
        member->changes[commit->change_count++] =
            (struct pawl_change){PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, again};
    }
}

static void add_stamp(struct maker *m, struct pawl_commit *commit)
{
    const struct pawl_stamp_row key = {.name = name(m, "stamp", 0)}, *before;

    before = find_before(m, PAWL_TABLE_STAMPS, &key);
    commit->stamp = key.name;
    commit->stamp_value = (before ? before->value : 0) + chance(m, 25);
}

static void make_member(struct maker *m, struct random_member *member)
{
    static const int kinds[] = {46, 14, 26, 8, 6, -1}; /* by enum pawl_commit_kind */
    static const int many[] = {3, 14, 38, 30, 15, -1}, few[] = {3, 30, 57, 10, -1};
    struct pawl_commit *commit = &member->commit;
    int instance, count = m->changes > 0 ? m->changes : pick(m, m->apart > 50 ? few : many);

    commit->kind = (enum pawl_commit_kind)pick(m, kinds);
    if (chance(m, m->main_percent))
        commit->kind = (enum pawl_commit_kind)m->main_kind;
    instance = commit->kind == PAWL_COMMIT_PLAIN ? INSTANCES : choose_instance(m, commit->kind);
    if (instance == INSTANCES)
        commit->kind = PAWL_COMMIT_PLAIN;
    else
        m->used[instance] = true;
    commit->flags = some_flags(m, commit->kind);
    if (instance < INSTANCES)
        fill_instance(m, member, instance);
    if (chance(m, m->member == 0 ? m->stamps * 4 : m->stamps))
        add_stamp(m, commit);
    if (chance(m, m->done))
        add_done(m, member);
    for (int i = 0; i < count; i++)
        add_change(m, member, instance);
    commit->changes = member->changes;
}

/* All that commits can do, among some rows. */
static void mix(struct maker *m)
{
    m->main_percent = 40;
    m->apart = 30;
    m->deletes = true;
    m->large = chance(m, 40) ? 25 : 0;
    m->stamps = chance(m, 30) ? 20 : 0;
    m->done = chance(m, 30) ? 30 : 0;
    m->late = chance(m, 50) ? 30 : 0;
    memcpy(m->tables, choice_weights, sizeof m->tables);
    for (int i = 0; i < CHOICES; i++)
        m->numbers[i] = chance(m, 45) ? 1 + draw(m, 2) : choices[i].numbers;
}

static void choose_two_tables(struct maker *m, int reservations_percent)
{
    int first = chance(m, reservations_percent) ? RESERVATIONS : pick(m, choice_weights), second;

    do {
        second = pick(m, choice_weights);
    } while (second == first);
    m->tables[first] = m->tables[second] = 1;
    m->by_turns = true;
}

/* Each writes the same row of each of two tables, and in its own way. */
static void crowd(struct maker *m)
{
    m->main_percent = 60;
    m->large = chance(m, 60) ? 30 : 0;
    m->stamps = chance(m, 20) ? 20 : 0;
    m->deletes = chance(m, 70);
    choose_two_tables(m, 50);
    for (int i = 0; i < CHOICES; i++)
        m->numbers[i] = 1 + chance(m, 10);
}

/* Few write the same row, but each may be refused. */
static void bar(struct maker *m)
{
    m->main_percent = 88;
    m->apart = 97;
    m->stamps = m->done = 12;
    m->late = 50;
    m->deletes = chance(m, 40);
    choose_two_tables(m, 100);
    for (int i = 0; i < CHOICES; i++)
        m->numbers[i] = choices[i].numbers;
}

/* Long commits, of which one may be alone in its batch: several events of one instance. */
static void stretch(struct maker *m)
{
    mix(m);
    m->batch->count = 1 + (size_t)chance(m, 30);
    m->changes = 6 + draw(m, RANDOM_CHANGES_MAX - 6);
    m->puts = chance(m, 80);
    m->large = chance(m, 20) ? 5 : 0;
    m->late = 0;
    if (chance(m, 60)) { /* much like a fold: work that comes and goes */
        for (int i = 0; i < CHOICES; i++)
            m->tables[i] = i == LONG_WORK ? 20 : chance(m, 30);
        m->long_work = m->numbers[LONG_WORK] = 20;
        m->main_kind = PAWL_COMMIT_PLAIN;
        m->main_percent = 80;
    }
}

/* What this batch is about: what goes wrong between two members seldom does so in any batch. */
static void choose_ways(struct maker *m)
{
    void (*const ways[])(struct maker *) = {mix, crowd, bar, stretch};
    static const int weights[] = {18, 35, 35, 12, -1}, main_kinds[] = {50, 15, 35, -1};

    m->main_kind = pick(m, main_kinds);
    m->strangers = chance(m, 30) ? 30 : 0;
    m->tables[CHOICES] = -1;
    ways[pick(m, weights)](m);
}

struct random_batch *make_random_batch(struct contract *t, uint64_t seed)
{
    static const int sizes[] = {20, 25, 30, 25, -1};
    struct random_batch *batch = pawl__arena_alloc_zeroed(&t->arena, sizeof *batch);
    struct maker m = {.t = t, .batch = batch, .state = seed};

    assert_non_null(batch);
    batch->seed = seed;
    batch->count = 2 + (size_t)pick(&m, sizes);
    choose_ways(&m);
    add_all_rows(&m);
    for (; m.member < (int)batch->count; m.member++)
        make_member(&m, &batch->members[m.member]);
    return batch;
}
