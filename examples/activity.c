/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An activity written in C: Shop.Charge charges an amount, outside of the workflow's transaction
 * and with a key, and completes with the outcome "Paid" or "Declined".
 *
 *     cc activity.c $(pkg-config --cflags --libs pawl) -o activity && ./activity
 */
#include <pawl/pawl.h>

#include <stdio.h>

#define JSON(...) #__VA_ARGS__

/* clang-format off */
static const char definition[] = JSON(
    {"definitionId": "buy", "name": "Buy", "root": {
        "type": "Elsa.Flowchart",
        "activities": [
            {"id": "charge", "type": "Shop.Charge", "amount": {"typeName": "Int64",
                "expression": {"type": "Input", "value": {"name": "Amount"}}}},
            {"id": "thanks", "type": "Elsa.WriteLine", "text": {"typeName": "String",
                "expression": {"type": "Literal", "value": "Thank you"}}},
            {"id": "sorry", "type": "Elsa.WriteLine", "text": {"typeName": "String",
                "expression": {"type": "Literal", "value": "Sorry"}}}],
        "connections": [
            {"source": {"activity": "charge", "port": "Paid"}, "target": {"activity": "thanks"}},
            {"source": {"activity": "charge", "port": "Declined"}, "target": {"activity": "sorry"}}
        ]},
     "inputs": [{"name": "Amount", "type": "Int64"}]});
/* clang-format on */

/* In the burst: only decides. Nothing it does is seen by anybody before the commit. */
static int execute(void *ctx, struct pawl_context *context)
{
    const char *amount;
    int64_t value;
    int status = pawl_context_input_int(context, "Amount", &value);

    (void)ctx;
    if (status == PAWL_OK && value <= 0)
        status = pawl_context_fault(context, "cannot charge %lld", (long long)value);
    if (status == PAWL_OK)
        status = pawl_context_input(context, "Amount", &amount); /* as JSON */
    if (status == PAWL_OK)
        status = pawl_context_call(context, amount);
    return status;
}

/* After the commit: may block, may come again after a crash, always with the same key. */
static int perform(void *ctx, struct pawl_call *call, struct pawl_error *err)
{
    int *charged = (int *)ctx;

    printf("charging %s, %s key\n", pawl_call_data(call), *pawl_call_key(call) ? "with a" : "no");
    ++*charged;
    return pawl_call_return(call, *charged == 1 ? "true" : "false", err);
}

/* In the burst again, with the result. */
static int performed(void *ctx, struct pawl_context *context, const char *result)
{
    const char *outcome = *result == 't' ? "Paid" : "Declined";

    (void)ctx;
    return pawl_context_complete(context, &outcome, 1);
}

static void print_line(void *ctx, const char *instance_id, const char *text)
{
    (void)ctx;
    (void)instance_id;
    printf("%s\n", text);
}

static int buy(struct pawl *pawl, const char *input, struct pawl_error *err)
{
    struct pawl_start_options start = {.definition_id = "buy", .input = input};
    struct pawl_instance_outcome outcome;
    int status = pawl_instance_start(pawl, &start, &outcome, err);

    /* No workers here: waiting does the work. */
    if (status == PAWL_OK)
        status = pawl_instance_wait(pawl, outcome.instance_id, 60000, &outcome, err);
    if (status == PAWL_OK)
        printf("the instance is %s\n", pawl_instance_status_name(outcome.status));
    return status;
}

int main(void)
{
    static const struct pawl_activity_input inputs[] = {{.name = "Amount", .type = "Int64"}};
    static const char *const outcomes[] = {"Paid", "Declined"};
    int charged = 0;
    const struct pawl_activity_type charge = {.type = "Shop.Charge",
                                              .description = "Charges the customer.",
                                              .inputs = inputs,
                                              .input_count = 1,
                                              .outcomes = outcomes,
                                              .outcome_count = 2,
                                              .execute = execute,
                                              .perform = perform,
                                              .performed = performed,
                                              .ctx = &charged};
    struct pawl_options options = {
        .store = "memory:", .activities = &charge, .activity_count = 1, .line = print_line};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl *pawl = NULL;
    int status = pawl_open(&options, &pawl, &err);

    if (status == PAWL_OK)
        status = pawl_definition_publish(pawl, definition, NULL, NULL, NULL, &err);
    if (status == PAWL_OK)
        status = buy(pawl, "{\"Amount\": 12}", &err);
    if (status == PAWL_OK)
        status = buy(pawl, "{\"Amount\": 99}", &err);
    if (status == PAWL_OK)
        status = buy(pawl, "{\"Amount\": 0}", &err);
    pawl_close(pawl);
    if (status != PAWL_OK)
        fprintf(stderr, "%s: %s\n", pawl_error_name(status), err.msg);
    return status == PAWL_OK ? 0 : 1;
}
