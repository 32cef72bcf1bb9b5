/* SPDX-License-Identifier: Apache-2.0 */
/* The work, handing it in, and what must be true of the store afterwards; see workload.h. */
#include "chaos/workload.h"

#include "base/error.h"
#include "lib/test.h"

#include <stdlib.h>

#define TRIES_MAX 400
#define RETRY_NS INT64_C(100000000)
#define LOOK_NS INT64_C(200000000)
/* Of a journal. */
#define FIRST_SEQUENCE 0
#define TICKER_PERIOD_US INT64_C(1000000)
/* So many orders are started before the first event of one is sent, and between its events. */
#define ORDERS_BETWEEN 8u

#define AWAIT(n) RIG_EVENT("e" n, "Paid") "," COUNT("c" n)
#define CHILD                                                                                      \
    "{'id':'child','type':'Elsa.DispatchWorkflow','waitForCompletion':" RIG_INPUT(                 \
        "Boolean", "Literal", "true") ",'workflowDefinitionId':" TEXT("parcel") "}"
#define CRON                                                                                       \
    "{'id':'tick','type':'Elsa.Cron','customProperties':{'canStartWorkflow':true},"                \
    "'cronExpression':" TEXT("* * * * * *") "}"

static const char *const definitions[] = {
    DEFINITION("parcel", COUNTER, COUNT("p1") "," DELAY("p2", "00:00:00.0100000")),
    DEFINITION("order", COUNTER,
               AWAIT("1") "," AWAIT("2") "," AWAIT("3") "," DELAY("t", "00:00:00.3000000") "," //
               COUNT("c4") "," CHILD "," COUNT("c5")),
    DEFINITION("ticker", COUNTER, CRON "," COUNT("k")),
};

/* Counts when it was answered with 200, and not when it was given up. */
#define CALLER                                                                                     \
    DEFINITION("caller", COUNTER,                                                                  \
               "{'id':'call','type':'Elsa.SendHttpRequest','url':{'typeName':'Uri','expression':"  \
               "{'type':'Literal','value':'%s" CALLERS_PATH "'}},'expectedStatusCodes':"           \
               "[{'statusCode':200,'activity':" RIG_SEQUENCE("ok", COUNT("a")) "}]}")

static void publish_caller(struct workload *load)
{
    char text[2048];
    int len = snprintf(text, sizeof text, CALLER, test_http_url(load->target));

    assert_true(len > 0 && (size_t)len < sizeof text);
    stage_publish(load->client, text);
}

void workload_publish(struct workload *load)
{
    struct stage *client = load->client;
    struct pawl_store_status status;

    assert_ok(pawl_store_status(client->store, &status, stage_later(client), &client->err),
              &client->err);
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
        stage_publish(client, definitions[i]);
    if (load->target)
        publish_caller(load);
    load->published_us = status.now_us;
}

/* ---- handing in ---------------------------------------------------------------------------- */

/* Whether to try once more: everything but a definite refusal may pass. */
static bool again(struct workload *load, int status, unsigned *tries, const struct pawl_error *err)
{
    struct pawl_env *env = load->client->env;
    enum pawl_error_class class = pawl_error_class(status);

    if (status == PAWL_OK)
        return false;
    load->retries++;
    if ((class == PAWL_CLASS_TRANSIENT || class == PAWL_CLASS_UNKNOWN) && ++*tries < TRIES_MAX &&
        pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + RETRY_NS) == PAWL_OK)
        return true;
    if (load->failure.code == 0)
        load->failure = *err;
    load->failure.code = status;
    return false;
}

static void name_order(unsigned number, char *out, size_t size)
{
    (void)snprintf(out, size, "order-%u", number);
}

static void start_one(struct workload *load, const char *definition, const char *id)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    unsigned tries = 0;
    int status;

    do {
        const struct pawl_start what = {.definition_id = pawl__str(definition),
                                        .instance_id = pawl__str(id),
                                        .idempotency_key = pawl__str(id)};
        struct pawl_outcome outcome;

        status = pawl__runtime_create(load->client->runtime, &what, &outcome,
                                      stage_later(load->client), &err);
    } while (again(load, status, &tries, &err));
}

static void start_order(struct workload *load, unsigned number)
{
    char id[32];

    name_order(number, id, sizeof id);
    start_one(load, "order", id);
}

/* One with every other order, CALLERS at the most. */
static void start_callers(struct workload *load, unsigned orders)
{
    char id[32];

    for (; load->target && load->callers < orders / 2 && load->callers < CALLERS &&
           load->failure.code == 0;
         load->callers++) {
        (void)snprintf(id, sizeof id, "caller-%u", load->callers);
        start_one(load, "caller", id);
    }
}

static void pay_order(struct workload *load, unsigned number, unsigned event)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    char id[32], key[48];
    unsigned tries = 0;
    int status;

    name_order(number, id, sizeof id);
    (void)snprintf(key, sizeof key, "%s-%u", id, event);
    do {
        const struct pawl_stimulus stimulus = {.instance_id = pawl__str(id),
                                               .idempotency_key = pawl__str(key)};

        status = pawl__runtime_send_event(load->client->runtime, pawl__str("Paid"), NULL, &stimulus,
                                          NULL, stage_later(load->client), &err);
    } while (again(load, status, &tries, &err));
}

/* The events that are due when so many orders were started: each of an order is due so many orders
 * after the one before it. */
static void pay_behind(struct workload *load, unsigned started)
{
    for (unsigned event = 0; event < ORDER_EVENTS; event++) {
        unsigned behind = (event + 1) * ORDERS_BETWEEN;

        if (started >= behind && started - behind < load->orders && load->failure.code == 0)
            pay_order(load, started - behind, event);
    }
}

void workload_send(void *arg)
{
    struct workload *load = arg;
    struct pawl_env *env = load->client->env;
    unsigned least = load->orders, number = 0;

    load->orders = load->orders_max;
    while (load->failure.code == 0 && number < load->orders_max &&
           (number < least || !load->enough)) {
        start_order(load, number);
        number++;
        pay_behind(load, number - 1);
        start_callers(load, number);
        if (pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + load->pace_ns) != PAWL_OK)
            return;
    }
    load->orders = number;
    for (unsigned more = 0; more < ORDER_EVENTS * ORDERS_BETWEEN; more++)
        pay_behind(load, number + more);
}

bool workload_is_busy(void *arg)
{
    struct workload *load = arg;

    return load->running > 0;
}

/* ---- looking ------------------------------------------------------------------------------- */

/* Calls `each` for every row of the instances of a definition; stops when it answers false. */
static int for_each(struct stage *stage, const char *definition,
                    bool (*each)(void *ctx, const struct pawl_instance_row *row), void *ctx)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_INSTANCES, "definition_id"),
        .compare = PAWL_EQ,
        .value = {.text = pawl__str(definition)}};
    struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                               .flags = PAWL_QUERY_BRIEF,
                               .conditions = &condition,
                               .condition_count = 1,
                               .limit = 1000};
    struct pawl_instance_row last;
    char last_id[128];
    struct pawl_rows rows;

    do {
        const struct pawl_instance_row *row;
        int status;

        pawl__arena_reset(&stage->arena);
        status = pawl_store_find(stage->store, &query, &stage->arena, &rows, stage_later(stage),
                                 &stage->err);
        if (status != PAWL_OK)
            return status;
        row = rows.rows;
        for (size_t i = 0; i < rows.count; i++)
            if (!each(ctx, &row[i]))
                return PAWL_OK;
        if (rows.count > 0) {
            (void)snprintf(last_id, sizeof last_id, "%.*s", PAWL_STR_ARG(row[rows.count - 1].id));
            last = (struct pawl_instance_row){.id = pawl__str(last_id)};
            query.after = &last;
        }
    } while (rows.count == query.limit);
    return PAWL_OK;
}

static unsigned number_of(struct pawl_str id)
{
    unsigned number = 0;

    for (size_t i = sizeof "order-" - 1; i < id.len; i++)
        number = number * 10 + (unsigned)(id.ptr[i] - '0');
    return number;
}

static bool witness_row(void *ctx, const struct pawl_instance_row *row)
{
    struct witness *w = ctx;
    unsigned number = number_of(row->id);

    if (number >= w->load->orders_max)
        return true;
    w->running += !pawl__str_is(row->sub_status, "Finished");
    if (row->revision < w->revisions[number])
        w->gone_back++;
    w->revisions[number] = row->revision;
    return true;
}

/* A node that nobody touches keeps its lease, whatever is done to others. */
static void witness_leases(struct witness *w)
{
    static const char prefix[] = "node-";
    const struct pawl_query query = {.table = PAWL_TABLE_NODES, .limit = 1000};
    struct stage *stage = w->stage;
    struct pawl_store_status status;
    const struct pawl_node_row *row;
    struct pawl_rows rows;
    bool alone[10];

    for (unsigned n = 0; n < 10; n++)
        alone[n] = n < 3 && w->left_alone(w->ctx, n);
    pawl__arena_reset(&stage->arena);
    if (pawl_store_find(stage->store, &query, &stage->arena, &rows, stage_later(stage), NULL) !=
            PAWL_OK ||
        pawl_store_status(stage->store, &status, stage_later(stage), NULL) != PAWL_OK)
        return;
    row = rows.rows;
    for (size_t i = 0; i < rows.count; i++) {
        unsigned n = (unsigned)(row[i].id.ptr[row[i].id.len - 1] - '0') % 10;

        if (row[i].id.len != sizeof prefix || memcmp(row[i].id.ptr, prefix, sizeof prefix - 1) != 0)
            continue;
        if (!alone[n] || !w->left_alone(w->ctx, n))
            continue;
        w->lease_looks++;
        w->lapsed += row[i].lease_us < status.now_us;
    }
}

void witness_watch(void *arg)
{
    struct witness *w = arg;
    struct pawl_env *env = w->stage->env;

    while (!w->enough) {
        /* A store that is down says nothing about revisions. */
        w->running = 0;
        if (for_each(w->stage, "order", witness_row, w) == PAWL_OK) {
            w->looks++;
            w->load->running = w->running;
        }
        witness_leases(w);
        if (pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + LOOK_NS) != PAWL_OK)
            return;
    }
}

struct tally {
    unsigned count, ended, wrong;
    unsigned shown;
    const char *name; /* that an ended one must have */
};

static bool tally_row(void *ctx, const struct pawl_instance_row *row)
{
    struct tally *t = ctx;
    bool ended = pawl__str_is(row->sub_status, "Finished") && row->owner == 0;

    t->count++;
    t->ended += ended;
    if (ended && pawl__str_is(row->name, t->name) && row->incident_count == 0)
        return true;
    t->wrong++;
    if (t->shown++ < 5)
        print_message("# %.*s: %.*s, counted %.*s (wanted %s), owner %lld, revision %lld, "
                      "%lld incidents\n",
                      PAWL_STR_ARG(row->id), PAWL_STR_ARG(row->sub_status), PAWL_STR_ARG(row->name),
                      t->name, (long long)row->owner, (long long)row->revision,
                      (long long)row->incident_count);
    return true;
}

static struct tally tally_of(struct workload *load, const char *definition, const char *name,
                             bool quiet)
{
    struct tally tally;
    int status = PAWL_EUNAVAILABLE;

    /* The database was restarted a moment ago, perhaps. */
    for (int tries = 0; status != PAWL_OK && tries < 20; tries++) {
        tally = (struct tally){.name = name, .shown = quiet ? 1000000 : 0};
        status = for_each(load->client, definition, tally_row, &tally);
    }
    assert_ok(status, &load->client->err);
    return tally;
}

void workload_await_end(struct workload *load, unsigned patience_s)
{
    struct pawl_env *env = load->client->env;
    int64_t give_up_ns = pawl_env_monotonic_ns(env) + (int64_t)patience_s * SECOND;

    for (;;) {
        struct tally orders = tally_of(load, "order", ORDER_COUNT, true);

        struct tally callers = tally_of(load, "caller", "1", true);

        if (orders.ended >= load->orders && callers.ended >= load->callers)
            return;
        if (pawl_env_monotonic_ns(env) > give_up_ns) {
            (void)tally_of(load, "order", ORDER_COUNT, false);
            (void)tally_of(load, "parcel", "1", false);
            (void)tally_of(load, "caller", "1", false);
            stage_show_work(load->client);
            fail_msg("%u of %u orders and %u of %u callers have ended; the others hang",
                     orders.ended, load->orders, callers.ended, load->callers);
        }
        if (pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + LOOK_NS) != PAWL_OK)
            return;
    }
}

/* ---- checking ------------------------------------------------------------------------------ */

/* Records of an order's journal stand one behind the other, from the first on: none is missing,
 * none is there twice. Returns how many they are. */
static int64_t check_journal(struct workload *load, unsigned number)
{
    struct stage *client = load->client;
    const struct pawl_journal_row *row;
    struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_JOURNAL, "instance_id"), .compare = PAWL_EQ};
    const struct pawl_query query = {.table = PAWL_TABLE_JOURNAL,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = &condition,
                                     .condition_count = 1,
                                     .limit = 1000};
    struct pawl_rows rows;
    int64_t next;
    char id[32];

    name_order(number, id, sizeof id);
    condition.value.text = pawl__str(id);
    pawl__arena_reset(&client->arena);
    assert_ok(pawl_store_find(client->store, &query, &client->arena, &rows, stage_later(client),
                              &client->err),
              &client->err);
    row = rows.rows;
    assert_true(rows.count > 0);
    next = FIRST_SEQUENCE;
    for (size_t i = 0; i < rows.count; i++) {
        if (row[i].first_sequence != next)
            fail_msg("the journal of %s has records %lld where %lld should be", id,
                     (long long)row[i].first_sequence, (long long)next);
        next += row[i].count;
    }
    return next - FIRST_SEQUENCE;
}

/* All orders do the same: their journals have the same number of records. */
static void check_journals(struct workload *load)
{
    int64_t first = check_journal(load, 0);

    for (unsigned i = 1; i < load->orders; i++) {
        int64_t count = check_journal(load, i);

        if (count != first)
            fail_msg("the journal of order-%u has %lld records, that of order-0 %lld", i,
                     (long long)count, (long long)first);
    }
    print_message("# %u journals of %lld records\n", load->orders, (long long)first);
}

struct ticks {
    int64_t *created_us;
    size_t count, max;
};

static bool note_tick(void *ctx, const struct pawl_instance_row *row)
{
    struct ticks *ticks = ctx;

    if (ticks->count < ticks->max)
        ticks->created_us[ticks->count++] = row->created_us;
    return true;
}

static int compare_us(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/*
 * At no moment have more been started than there were ticks. Fewer have only where faults kept all
 * nodes from it for a second, since what was missed is not made up for. On a busy machine a second
 * says little: then they are counted only.
 */
static void check_ticks(struct workload *load)
{
    unsigned unexplained = 0;
    struct ticks ticks = {.max = 100000};
    int64_t first = load->published_us / TICKER_PERIOD_US;

    ticks.created_us = calloc(ticks.max, sizeof *ticks.created_us);
    assert_non_null(ticks.created_us);
    assert_ok(for_each(load->client, "ticker", note_tick, &ticks), NULL);
    qsort(ticks.created_us, ticks.count, sizeof *ticks.created_us, compare_us);
    assert_true(ticks.count > 0);
    for (size_t i = 0; i < ticks.count; i++)
        if ((int64_t)i + 1 > ticks.created_us[i] / TICKER_PERIOD_US - first)
            fail_msg("%zu instances of the ticker after %lld ticks", i + 1,
                     (long long)(ticks.created_us[i] / TICKER_PERIOD_US - first));
    for (size_t i = 0; i < ticks.count; i++) {
        int64_t before_us = i > 0 ? ticks.created_us[i - 1] : load->published_us;
        int64_t due_us = (before_us / TICKER_PERIOD_US + 1) * TICKER_PERIOD_US;

        if (ticks.created_us[i] >= due_us + TICKER_PERIOD_US &&
            !load->was_disturbed(load->ctx, before_us, ticks.created_us[i]))
            unexplained++;
    }
    print_message(
        "# %zu instances by cron, %lld ticks, %u gaps that no fault explains\n", ticks.count,
        (long long)(ticks.created_us[ticks.count - 1] / TICKER_PERIOD_US - first), unexplained);
    if (getenv("CHAOS_LEASES"))
        assert_int_equal(unexplained, 0);
    free(ticks.created_us);
}

/* Only a tick makes the next one: there is one, or the trigger would have ended or be doubled. */
static void check_next_tick(struct workload *load)
{
    struct stage *client = load->client;
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_WORK, "kind"),
                                             .value = {.text = pawl__str(PAWL_WORK_TICK)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_WORK, .conditions = &condition, .condition_count = 1, .limit = 10};
    struct pawl_rows rows;

    pawl__arena_reset(&client->arena);
    assert_ok(pawl_store_find(client->store, &query, &client->arena, &rows, stage_later(client),
                              &client->err),
              &client->err);
    assert_int_equal(rows.count, 1);
}

/* Nothing may be given up: all of it can be done. */
static void check_letters(struct workload *load)
{
    struct stage *client = load->client;
    const struct pawl_query query = {.table = PAWL_TABLE_DEAD_LETTERS, .limit = 5};
    const struct pawl_dead_letter_row *letter;
    struct pawl_rows rows;

    pawl__arena_reset(&client->arena);
    assert_ok(pawl_store_find(client->store, &query, &client->arena, &rows, stage_later(client),
                              &client->err),
              &client->err);
    letter = rows.rows;
    for (size_t i = 0; i < rows.count; i++)
        print_message("# given up: %.*s of '%.*s', %.*s after %lld attempts: %.*s\n",
                      PAWL_STR_ARG(letter[i].kind), PAWL_STR_ARG(letter[i].instance_id),
                      PAWL_STR_ARG(letter[i].reason), (long long)letter[i].attempts,
                      PAWL_STR_ARG(letter[i].error));
    assert_int_equal(rows.count, 0);
}

/* A request that is sent again has the key that it had: so its server can tell. */
static void check_requests(struct workload *load)
{
    size_t count = test_http_count(load->target);
    unsigned keys = 0;

    for (size_t i = 0; i < count; i++) {
        struct pawl_str key = test_http_header(load->target, i, "Idempotency-Key");
        size_t before = 0;

        assert_true(key.len > 0);
        while (before < i &&
               !pawl__str_equal(test_http_header(load->target, before, "Idempotency-Key"), key))
            before++;
        keys += before == i;
    }
    print_message("# %u callers sent %zu requests\n", load->callers, count);
    assert_int_equal(keys, load->callers);
}

static void check_callers(struct workload *load)
{
    struct tally callers = tally_of(load, "caller", "1", false);

    assert_int_equal(callers.count, load->callers);
    assert_int_equal(callers.wrong, 0);
    if (load->target)
        check_requests(load);
}

void workload_check(struct workload *load)
{
    struct tally orders = tally_of(load, "order", ORDER_COUNT, false);
    struct tally parcels = tally_of(load, "parcel", "1", false);

    assert_int_equal(orders.count, load->orders);
    assert_int_equal(orders.wrong, 0);
    assert_int_equal(parcels.count, load->orders); /* one child each, however often it was asked */
    assert_int_equal(parcels.wrong, 0);
    check_callers(load);
    check_journals(load);
    check_ticks(load);
    check_next_tick(load);
    check_letters(load);
}
