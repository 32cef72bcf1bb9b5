/* SPDX-License-Identifier: Apache-2.0 */
/* Says what a batch made by chance is, for whoever reads the report of a failed test. */
#include "contract/random_batch.h"

void print_row(enum pawl_table table, const void *row)
{
    const struct pawl_table_info *info = pawl_table_info(table);

    print_error("%s", info->name);
    for (uint32_t i = 0; i < info->column_count; i++) {
        const struct pawl_column *column = &info->columns[i];
        const void *at = (const char *)row + column->offset;

        if (column->type == PAWL_COLUMN_INT) {
            if (*(const int64_t *)at != 0)
                print_error(" %s=%lld", column->name, (long long)*(const int64_t *)at);
        } else {
            struct pawl_str value = *(const struct pawl_str *)at;
            size_t shown = value.len < 24 ? value.len : 24;

            if (shown > 0)
                print_error(" %s=%.*s%s", column->name, (int)shown, value.ptr,
                            shown < value.len ? "…" : "");
        }
    }
    print_error("\n");
}

static void print_member(const struct pawl_commit *commit)
{
    static const char *const kinds[] = {"PLAIN", "CREATE", "ADVANCE", "DELETE", "CANCEL"};
    static const char *const changes[] = {"INSERT", "ADD", "PUT", "DELETE", "DELETE_OWNED"};

    print_error("%s flags %u", kinds[commit->kind], commit->flags);
    if (commit->stamp.len > 0)
        print_error(", stamp must be %lld", (long long)commit->stamp_value);
    for (size_t i = 0; i < commit->done_count; i++)
        print_error(", has done %.*s of %lld", PAWL_STR_ARG(commit->done[i]),
                    (long long)commit->done_owner);
    print_error("\n");
    if (commit->instance) {
        print_error("        visited_us %lld ", (long long)commit->visited_us);
        print_row(PAWL_TABLE_INSTANCES, commit->instance);
    }
    for (size_t i = 0; i < commit->change_count; i++) {
        print_error("        %s ", changes[commit->changes[i].kind]);
        print_row(commit->changes[i].table, commit->changes[i].row);
    }
}

void print_random_batch(const struct random_batch *batch)
{
    print_error("batch of CONTRACT_FROM=%llu CONTRACT_SEEDS=1; before it:\n",
                (unsigned long long)batch->seed);
    for (size_t i = 0; i < RANDOM_TABLES; i++) {
        const struct random_table *table = &batch->tables[i];

        for (size_t row = 0; row < table->row_count; row++)
            print_row(table->table, table->rows + row * pawl_table_info(table->table)->row_size);
    }
    for (size_t i = 0; i < batch->count; i++) {
        print_error("member %zu: ", i);
        print_member(&batch->members[i].commit);
    }
}
