/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances that are watched.
 *
 * The first who watches an instance makes a group for it, the last one to leave removes it. The
 * hub's thread alone asks the store: once for a group when it is new, once for each change of it,
 * however many watch, and once in a while, in one query, for the revisions of all groups: that is
 * how commits of other nodes are noticed. Commits of this node are told at once (hub_told).
 *
 * What has changed is found by comparing: the counts of each node of the graph with those that were
 * said last. An instance that changes often is looked at as often as the store bears.
 */
#include "api/hub/private.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash/siphash.h"
#include "operations/changes.h"
#include "operations/instances.h"
#include "operations/journal.h"
#include "operations/metrics.h"
#include "views/journal.h"

#define ARENA_BYTES_MAX ((size_t)256 << 20)
#define ASK_NS (5 * NS_PER_S)
/* Between two looks for commits of others. */
#define LOOK_NS (400 * HUB_NS_PER_MS)
/* Between two looks at one instance; and so many times as long as the look took. */
#define REST_NS (50 * HUB_NS_PER_MS)
#define REST_TIMES 4
/* After a look that failed. */
#define FAILED_NS NS_PER_S
/* Counts in one message. */
#define STATS_MAX 100u

static const struct pawl_hash_seed seed = {0x687562, 0x77617463};

static uint64_t hash(struct pawl_str text)
{
    return pawl__siphash(seed, text);
}

/* ---- who watches ---------------------------------------------------------------------------- */

static struct hub_group *new_group(struct pawl_hub *hub, struct pawl_str id)
{
    struct hub_group *group;

    if (hub->group_count >= HUB_INSTANCES_MAX)
        return NULL;
    group = pawl__alloc_zeroed(&hub->env->alloc, sizeof *group + id.len);
    if (!group)
        return NULL;
    memcpy(group->text, id.ptr, id.len);
    group->id = pawl__str_make(group->text, id.len);
    group->hash = (uint32_t)(hash(id) % HUB_FILTER_SIZE);
    pawl__list_init(&group->subscriptions);
    if (pawl__map_put(&hub->by_id, group->id, group) != PAWL_OK) {
        pawl__free(&hub->env->alloc, group, sizeof *group + id.len);
        return NULL;
    }
    pawl__list_push_back(&hub->groups, &group->link);
    (void)atomic_fetch_add(&hub->filter[group->hash], 1);
    if (hub->group_count++ == 0) {
        hub->look_ns = pawl_env_monotonic_ns(hub->env) + LOOK_NS;
        pawl__op_changes_listen(hub->api->host, hub_told, hub);
    }
    return group;
}

static void free_group(struct pawl_hub *hub, struct hub_group *group)
{
    pawl__list_remove(&group->link);
    (void)pawl__map_remove(&hub->by_id, group->id);
    (void)atomic_fetch_sub(&hub->filter[group->hash], 1);
    if (--hub->group_count == 0)
        pawl__op_changes_listen(hub->api->host, NULL, NULL);
    pawl__free(&hub->env->alloc, group->counts, group->room * sizeof *group->counts);
    pawl__free(&hub->env->alloc, group, sizeof *group + group->id.len);
}

void hub_unsubscribe(struct hub_subscription *subscription)
{
    struct pawl_hub *hub = subscription->connection->hub;
    struct hub_group *group = subscription->group;

    pawl__list_remove(&subscription->of_connection);
    pawl__list_remove(&subscription->of_group);
    subscription->connection->subscription_count--;
    hub->pending_count -= subscription->is_pending;
    hub_caller_discharge(subscription->connection->caller, group);
    pawl__free(&hub->env->alloc, subscription, sizeof *subscription);
    if (pawl__list_empty(&group->subscriptions) && !group->is_busy)
        free_group(hub, group);
}

static bool watches(const struct hub_connection *connection, const struct hub_group *group)
{
    struct hub_subscription *one;

    PAWL_LIST_FOR_EACH (one, &connection->subscriptions, of_connection) {
        if (one->group == group && !one->is_pending)
            return true;
    }
    return false;
}

void hub_observe(struct hub_connection *connection, struct pawl_str instance_id,
                 struct pawl_str invocation_id)
{
    static const char too_many[] =
        "An unexpected error occurred invoking 'ObserveInstanceAsync' on the server. HubException: "
        "Too many instances are watched.";
    struct pawl_hub *hub = connection->hub;
    struct hub_group *group;
    struct hub_subscription *subscription;

    if (instance_id.len == 0 || instance_id.len > PAWL_INSTANCE_ID_MAX) {
        hub_connection_complete(connection, invocation_id, HUB_DENIED);
        return;
    }
    group = pawl__map_get(&hub->by_id, instance_id);
    if (group && watches(connection, group)) {
        hub_connection_complete(connection, invocation_id, NULL);
        return;
    }
    subscription = connection->subscription_count < HUB_SUBSCRIPTIONS_MAX
                       ? pawl__alloc_zeroed(&hub->env->alloc, sizeof *subscription)
                       : NULL;
    if (subscription && !group)
        group = new_group(hub, instance_id);
    if (!subscription || !group ||
        (!group->caller && !hub_caller_charge(connection->caller, group))) {
        if (subscription && group && !group->is_busy)
            free_group(hub, group); /* it is new */
        pawl__free(&hub->env->alloc, subscription, sizeof *subscription);
        hub_connection_complete(connection, invocation_id, too_many);
        return;
    }
    subscription->connection = connection;
    subscription->group = group;
    subscription->is_pending = true;
    subscription->has_invocation = invocation_id.ptr != NULL;
    memcpy(subscription->invocation_id, invocation_id.ptr ? invocation_id.ptr : "",
           invocation_id.len);
    connection->subscription_count++;
    hub->pending_count++;
    pawl__list_push_back(&connection->subscriptions, &subscription->of_connection);
    pawl__list_push_back(&group->subscriptions, &subscription->of_group);
    hub_wake(hub);
}

void hub_catch_up(struct hub_connection *connection)
{
    struct hub_subscription *one;

    PAWL_LIST_FOR_EACH (one, &connection->subscriptions, of_connection) {
        if (one->is_behind)
            one->group->wants_full = true;
    }
}

/* ---- commits of this node ------------------------------------------------------------------- */

void hub_told(void *ctx, struct pawl_str instance_id, int64_t revision)
{
    struct pawl_hub *hub = ctx;

    if (instance_id.len > PAWL_INSTANCE_ID_MAX ||
        atomic_load(&hub->filter[hash(instance_id) % HUB_FILTER_SIZE]) == 0)
        return;
    pawl_mutex_lock_always(hub->env, hub->told_mutex);
    if (hub->told_count < HUB_TOLD_MAX) {
        struct hub_told *told = &hub->told[hub->told_count++];

        memcpy(told->id, instance_id.ptr, instance_id.len);
        told->len = (uint32_t)instance_id.len;
        told->revision = revision;
    } else {
        hub->told_too_many = true;
    }
    hub->is_woken = true;
    pawl_mutex_unlock(hub->env, hub->told_mutex);
    pawl_cond_signal(hub->env, hub->wake);
}

static void make_due(struct hub_group *group, int64_t revision)
{
    if (revision > group->revision && revision > group->due_revision) {
        group->due_revision = revision;
        group->is_due = true;
    }
}

/* Its watchers hear no more of it; whoever asks for it again learns that it is not there. The group
 * is gone then. */
static void lose(struct pawl_hub *hub, struct hub_group *group)
{
    group->is_busy = true; /* it stays until all have left */
    while (!pawl__list_empty(&group->subscriptions)) {
        struct hub_subscription *one = pawl__list_element(
            group->subscriptions.head.next, offsetof(struct hub_subscription, of_group));

        if (one->is_pending && one->has_invocation)
            hub_connection_complete(one->connection, pawl__str(one->invocation_id), HUB_DENIED);
        hub_unsubscribe(one);
    }
    free_group(hub, group);
}

static void take_told(struct pawl_hub *hub)
{
    struct hub_group *group;
    bool too_many;

    pawl_mutex_lock_always(hub->env, hub->told_mutex);
    for (uint32_t i = 0; i < hub->told_count; i++) {
        const struct hub_told *told = &hub->told[i];

        group = pawl__map_get(&hub->by_id, pawl__str_make(told->id, told->len));
        if (group && told->revision > 0)
            make_due(group, told->revision);
        else if (group)
            hub->look_ns = 0; /* it is looked for, and not found */
    }
    hub->told_count = 0;
    too_many = hub->told_too_many;
    hub->told_too_many = false;
    pawl_mutex_unlock(hub->env, hub->told_mutex);
    if (too_many)
        hub->look_ns = 0;
}

/* ---- asking the store: without the mutex ----------------------------------------------------- */

struct look {
    struct pawl_hub *hub;
    struct pawl_arena arena;
    struct pawl_error err;
    struct pawl_op op;
};

static void begin_look(struct look *look, struct pawl_hub *hub, const char *kind)
{
    *look = (struct look){.hub = hub, .err = PAWL_ERROR_INIT};
    pawl__arena_init(&look->arena, &hub->env->alloc, ARENA_BYTES_MAX);
    look->op = (struct pawl_op){.host = hub->api->host,
                                .arena = &look->arena,
                                .deadline_ns = pawl_env_monotonic_ns(hub->env) + ASK_NS,
                                .err = &look->err,
                                .log = hub->api->log,
                                .actor = pawl__str("server"),
                                .door = pawl__str("http"),
                                .request_id = pawl__str("")};
    pawl__op_count_hub_look(hub->api->host, kind);
}

static void end_look(struct look *look, int status)
{
    if (status != PAWL_OK && status != PAWL_ENOTFOUND)
        pawl_log(look->hub->api->log, PAWL_LOG_DEBUG, "watched instances not looked at",
                 pawl_log_error("error", &look->err));
    pawl__arena_release(&look->arena);
}

/* ---- what is said --------------------------------------------------------------------------- */

/* Messages of one change, for those who follow, and for those who are behind. */
struct update {
    struct pawl_buf changes, full;
    struct hub_count *counts; /* of all nodes, in the look's arena */
    size_t count;
};

/* The hash of a node's counts as they were said last; 0: never. */
static uint64_t said(const struct hub_group *group, size_t index, uint64_t node)
{
    if (index < group->count && group->counts[index].node == node)
        return group->counts[index].text;
    for (size_t i = 0; i < group->count; i++)
        if (group->counts[i].node == node)
            return group->counts[i].text;
    return 0;
}

struct stats {
    struct pawl_buf *out;
    struct pawl_builder b;
    struct pawl_json items;
};

static void flush_stats(struct stats *stats)
{
    struct pawl_json message = pawl__json_object();

    if (pawl__json_len(&stats->items) == 0)
        return;
    pawl__build(&stats->b, &message, "stats", stats->items);
    hub_write_invocation(stats->out, "ActivityExecutionLogUpdatedAsync", &message);
    stats->items = pawl__json_array();
}

static void add_stats(struct stats *stats, struct pawl_json view)
{
    pawl__build_append(&stats->b, &stats->items, view);
    if (pawl__json_len(&stats->items) == STATS_MAX)
        flush_stats(stats);
}

/* Hashes each node's view; those that were said otherwise are added. */
static int compare(struct look *look, const struct hub_group *group,
                   const struct pawl_execution_stats *found, size_t count, struct update *update)
{
    struct stats changes = {&update->changes, {.arena = &look->arena}, pawl__json_array()};
    struct stats full = {&update->full, {.arena = &look->arena}, pawl__json_array()};
    struct pawl_builder b = {.arena = &look->arena};
    struct pawl_buf text;

    if (count > HUB_NODES_MAX)
        count = HUB_NODES_MAX;
    update->counts = pawl__arena_alloc_array(&look->arena, count + 1, sizeof *update->counts);
    if (!update->counts)
        return pawl__arena_status(&look->arena);
    pawl__buf_init(&text, &look->hub->env->alloc, HUB_UPDATE_BYTES_MAX);
    for (size_t i = 0; i < count; i++) {
        struct pawl_json view = pawl__view_execution_stats(&b, &found[i]);
        struct hub_count *one = &update->counts[i];

        pawl__buf_clear(&text);
        pawl__json_write(&text, &view, PAWL_JSON_ESCAPE_MINIMAL);
        one->node = hash(found[i].node_id);
        one->text = hash(pawl__buf_peek(&text));
        if (one->text != said(group, i, one->node))
            add_stats(&changes, view);
        add_stats(&full, view);
    }
    pawl__buf_release(&text);
    flush_stats(&changes);
    flush_stats(&full);
    update->count = count;
    return b.status != PAWL_OK           ? b.status
           : changes.b.status != PAWL_OK ? changes.b.status
                                         : full.b.status;
}

/* After the counts, whose place they take if these are too many. */
static void add_signals(struct look *look, struct pawl_buf *out, struct pawl_str id)
{
    struct pawl_builder b = {.arena = &look->arena};
    struct pawl_json nothing = pawl__json_object(), instance = pawl__json_object();

    if (out->status != PAWL_OK || out->len > out->max - 1024)
        pawl__buf_clear(out);
    pawl__build_text(&b, &instance, "workflowInstanceId", id);
    hub_write_invocation(out, "WorkflowExecutionLogUpdatedAsync", &nothing);
    hub_write_invocation(out, "WorkflowInstanceUpdatedAsync", &instance);
}

/* Not `is_new`: to those who are behind, alone. */
static void say(struct hub_group *group, const struct update *update, bool is_new)
{
    struct hub_subscription *one;

    PAWL_LIST_FOR_EACH (one, &group->subscriptions, of_group) {
        struct hub_connection *connection = one->connection;

        if (one->is_pending || (one->is_behind ? !hub_connection_is_free(connection) : !is_new))
            continue;
        one->is_behind =
            hub_connection_send(connection,
                                pawl__buf_peek(one->is_behind ? &update->full : &update->changes),
                                true) == PAWL_EBUSY;
        connection->hub->dropped_count += one->is_behind;
    }
}

/* What was said is what is compared with next. */
static void keep_counts(struct pawl_hub *hub, struct hub_group *group, const struct update *update)
{
    if (update->count > group->room) {
        struct hub_count *counts = pawl__alloc(&hub->env->alloc, update->count * sizeof *counts);

        if (!counts)
            return; /* they are said again */
        pawl__free(&hub->env->alloc, group->counts, group->room * sizeof *group->counts);
        group->counts = counts;
        group->room = update->count;
    }
    if (update->count > 0)
        memcpy(group->counts, update->counts, update->count * sizeof *update->counts);
    group->count = update->count;
}

/* ---- one instance --------------------------------------------------------------------------- */

static void rest(struct pawl_hub *hub, struct hub_group *group, int64_t begun_ns, bool failed)
{
    int64_t now_ns = pawl_env_monotonic_ns(hub->env), pause_ns = (now_ns - begun_ns) * REST_TIMES;

    if (pause_ns < REST_NS)
        pause_ns = REST_NS;
    if (failed && pause_ns < FAILED_NS)
        pause_ns = FAILED_NS;
    group->rest_ns = now_ns + pause_ns;
}

/*
 * Who asked again before the first was confirmed is confirmed as often, and watches once. Who wants
 * no completion, as Studio, has read the instance before and does not learn when it is watched: it
 * gets all counts first, that nothing is missed which changed in between.
 */
static void confirm_pending(struct hub_group *group)
{
    struct pawl_list_link *link = group->subscriptions.head.next, *next;

    for (; link != &group->subscriptions.head; link = next) {
        struct hub_subscription *one =
            pawl__list_element(link, offsetof(struct hub_subscription, of_group));

        next = link->next;
        if (!one->is_pending)
            continue;
        hub_connection_complete(
            one->connection,
            one->has_invocation ? pawl__str(one->invocation_id) : pawl__str_make(NULL, 0), NULL);
        if (watches(one->connection, group)) {
            hub_unsubscribe(one); /* the group has the other one */
        } else {
            one->is_pending = false;
            one->connection->hub->pending_count--;
            one->is_behind = !one->has_invocation;
            group->wants_full = group->wants_full || one->is_behind;
        }
    }
}

/* Its counts, and what is to be said of them. The store's failure is the look's. */
static int ask_counts(struct look *look, const struct hub_group *group, struct update *update)
{
    const struct pawl_execution_stats *found;
    size_t count;
    int status = pawl__op_executions_report(&look->op, group->id, NULL, 0, &found, &count);

    if (status == PAWL_OK && compare(look, group, found, count, update) == PAWL_OK)
        return PAWL_OK;
    if (status != PAWL_OK && pawl_error_class(status) == PAWL_CLASS_TRANSIENT)
        return status;
    /* A journal that cannot be read: that there is something new is said all the same. */
    update->changes.status = update->full.status = PAWL_ELIMIT;
    update->count = 0;
    return PAWL_OK;
}

static void init_update(struct pawl_hub *hub, struct update *update)
{
    *update = (struct update){0};
    pawl__buf_init(&update->changes, &hub->env->alloc, hub->update_bytes_max);
    pawl__buf_init(&update->full, &hub->env->alloc, hub->update_bytes_max);
}

static void release_update(struct update *update)
{
    pawl__buf_release(&update->changes);
    pawl__buf_release(&update->full);
}

/* A group that is new: whether there is such an instance, and how it is. */
static void load(struct pawl_hub *hub, struct hub_group *group)
{
    int64_t begun_ns = pawl_env_monotonic_ns(hub->env), revision = 0;
    struct update update;
    struct look look;
    int status;

    group->is_busy = true;
    hub_unlock(hub);
    init_update(hub, &update);
    begin_look(&look, hub, "load");
    status = pawl__op_instance_revisions(&look.op, &group->id, 1, &revision);
    if (status == PAWL_OK && revision > 0)
        status = ask_counts(&look, group, &update);
    if (status == PAWL_OK && revision > 0)
        add_signals(&look, &update.full, group->id);
    hub_lock(hub);
    group->is_busy = false;
    if (status == PAWL_OK && revision > 0) {
        group->is_loaded = true;
        group->revision = revision;
        group->is_due = group->due_revision > revision;
        keep_counts(hub, group, &update);
        confirm_pending(group);
        say(group, &update, false);
        group->wants_full = false;
    }
    rest(hub, group, begun_ns, status != PAWL_OK);
    if (pawl__list_empty(&group->subscriptions))
        free_group(hub, group);
    else if (status == PAWL_OK && revision == 0)
        lose(hub, group);
    release_update(&update);
    end_look(&look, status);
}

/* A group that has changed, or somebody in it who is behind. */
static void report(struct pawl_hub *hub, struct hub_group *group)
{
    int64_t begun_ns = pawl_env_monotonic_ns(hub->env), revision = group->due_revision;
    struct update update;
    struct look look;
    int status;

    group->is_busy = true;
    group->is_due = group->wants_full = false;
    hub_unlock(hub);
    init_update(hub, &update);
    begin_look(&look, hub, "report");
    status = ask_counts(&look, group, &update);
    if (status == PAWL_OK) {
        add_signals(&look, &update.changes, group->id);
        add_signals(&look, &update.full, group->id);
    }
    hub_lock(hub);
    group->is_busy = false;
    if (status == PAWL_OK) {
        bool is_news = revision > group->revision;

        confirm_pending(group); /* who came during the look gets it too: there is no other */
        say(group, &update, is_news);
        group->wants_full = false; /* who could not take it says so when it has read */
        /* What only those behind were told is still news for the others. */
        if (is_news) {
            group->revision = revision;
            keep_counts(hub, group, &update);
        }
    } else {
        group->is_due = true;
    }
    rest(hub, group, begun_ns, status != PAWL_OK);
    if (pawl__list_empty(&group->subscriptions))
        free_group(hub, group);
    release_update(&update);
    end_look(&look, status);
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* The ids of the groups from the nth on, in the arena; the groups may go meanwhile. */
static size_t collect(struct pawl_hub *hub, struct pawl_arena *arena, size_t skip,
                      struct pawl_str ids[PAWL_REVISIONS_MAX])
{
    struct hub_group *group;
    size_t count = 0;

    PAWL_LIST_FOR_EACH (group, &hub->groups, link) {
        if (!group->is_loaded || count == PAWL_REVISIONS_MAX)
            continue;
        if (skip > 0) {
            skip--;
            continue;
        }
        ids[count] = pawl__arena_str(arena, group->id);
        if (!ids[count].ptr)
            break;
        count++;
    }
    return count;
}

/* One query for PAWL_REVISIONS_MAX instances. */
static size_t look_at(struct pawl_hub *hub, size_t skip)
{
    struct pawl_str ids[PAWL_REVISIONS_MAX];
    int64_t revisions[PAWL_REVISIONS_MAX];
    struct look look;
    size_t count;
    int status;

    begin_look(&look, hub, "revisions");
    count = collect(hub, &look.arena, skip, ids);
    hub_unlock(hub);
    status = pawl__op_instance_revisions(&look.op, ids, count, revisions);
    hub_lock(hub);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        struct hub_group *group = pawl__map_get(&hub->by_id, ids[i]);

        if (group && group->is_loaded && revisions[i] == 0)
            lose(hub, group);
        else if (group && group->is_loaded)
            make_due(group, revisions[i]);
    }
    end_look(&look, status);
    return count;
}

static void look_at_all(struct pawl_hub *hub)
{
    int64_t begun_ns = pawl_env_monotonic_ns(hub->env), now_ns, pause_ns;
    size_t skip = 0, count;

    do {
        count = look_at(hub, skip);
        skip += count;
    } while (count == PAWL_REVISIONS_MAX);
    now_ns = pawl_env_monotonic_ns(hub->env);
    pause_ns = (now_ns - begun_ns) * REST_TIMES;
    hub->look_ns = now_ns + (pause_ns > LOOK_NS ? pause_ns : LOOK_NS);
}

static bool wants_look(const struct hub_group *group)
{
    return !group->is_loaded || group->is_due || group->wants_full;
}

/* Those who watch what is known already need not wait for a look. */
static void confirm_loaded(struct pawl_hub *hub)
{
    struct hub_group *group;

    if (hub->pending_count == 0)
        return;
    PAWL_LIST_FOR_EACH (group, &hub->groups, link) {
        if (group->is_loaded)
            confirm_pending(group);
    }
}

/* The next group that is to be looked at now; else *next_ns is when there may be one. */
static struct hub_group *next_group(struct pawl_hub *hub, int64_t now_ns, int64_t *next_ns)
{
    struct hub_group *group;

    PAWL_LIST_FOR_EACH (group, &hub->groups, link) {
        if (!wants_look(group))
            continue;
        if (group->rest_ns <= now_ns)
            return group;
        if (group->rest_ns < *next_ns)
            *next_ns = group->rest_ns;
    }
    return NULL;
}

int64_t hub_watch(struct pawl_hub *hub, int64_t now_ns)
{
    struct hub_group *group;
    int64_t next_ns = PAWL_FOREVER;

    if (hub->group_count == 0)
        return PAWL_FOREVER;
    confirm_loaded(hub);
    take_told(hub);
    /* So many at the most that connections are tended in between. */
    for (int i = 0; i < 16 && (group = next_group(hub, now_ns, &next_ns)) != NULL; i++) {
        if (group->is_loaded)
            report(hub, group);
        else
            load(hub, group);
        now_ns = pawl_env_monotonic_ns(hub->env);
        take_told(hub);
    }
    if (hub->group_count > 0 && hub->look_ns <= now_ns) {
        look_at_all(hub);
        return 0;
    }
    next_ns = PAWL_FOREVER;
    if (next_group(hub, now_ns, &next_ns))
        return 0;
    return hub->group_count > 0 && hub->look_ns < next_ns ? hub->look_ns : next_ns;
}
