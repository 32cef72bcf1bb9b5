/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pawl inside a program: publish a definition, start an instance that waits for an event, send the
 * event, see it finish.
 *
 *     cc embed.c $(pkg-config --cflags --libs pawl) -o embed && ./embed [STORE]
 */
#include <pawl/pawl.h>

#include <stdio.h>

#define JSON(...) #__VA_ARGS__

/* clang-format off */
static const char definition[] = JSON(
    {"definitionId": "order", "name": "Order", "root": {
        "type": "Elsa.Sequence", "activities": [
            {"type": "Elsa.WriteLine", "text": {"typeName": "String",
                "expression": {"type": "Liquid", "value": "{{ Input.Item }}: waiting for payment"}}},
            {"type": "Elsa.Event", "eventName": {"typeName": "String",
                "expression": {"type": "Literal", "value": "Paid"}}},
            {"type": "Elsa.WriteLine", "text": {"typeName": "String",
                "expression": {"type": "Literal", "value": "Paid and shipped"}}}]}});
/* clang-format on */

/* Called on whichever thread runs the instance. */
static void print_line(void *ctx, const char *instance_id, const char *text)
{
    (void)ctx;
    (void)instance_id;
    printf("%s\n", text);
}

static int run(struct pawl *pawl, struct pawl_instance_outcome *outcome, struct pawl_error *err)
{
    struct pawl_start_options start = {.definition_id = "order",
                                       .input = "{\"Item\": \"Ratchet\"}",
                                       .correlation_id = "order-1",
                                       .idempotency_key = "order-1"};
    struct pawl_send_options to = {.correlation_id = "order-1"};
    int status = pawl_definition_publish(pawl, definition, NULL, NULL, NULL, err);

    if (status == PAWL_OK)
        status = pawl_instance_start(pawl, &start, outcome, err);
    if (status != PAWL_OK)
        return status;
    /* From here on the instance is in the store: the event may come in a year, to another process.
     */
    printf("the instance is %s\n", pawl_instance_status_name(outcome->status));
    status = pawl_event_send(pawl, "Paid", NULL, &to, NULL, err);
    if (status == PAWL_OK)
        status = pawl_instance_wait(pawl, outcome->instance_id, 60000, outcome, err);
    return status;
}

int main(int argc, char **argv)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    /* Two threads of the library's deliver events and fire timers. */
    struct pawl_options options = {
        .store = argc > 1 ? argv[1] : "memory:", .workers = 2, .line = print_line};
    struct pawl_instance_outcome outcome;
    struct pawl *pawl = NULL;
    int status = pawl_open(&options, &pawl, &err);

    if (status == PAWL_OK)
        status = run(pawl, &outcome, &err);
    pawl_close(pawl); /* the workers have printed all lines now */
    if (status == PAWL_OK)
        printf("the instance is %s\n", pawl_instance_status_name(outcome.status));
    else
        fprintf(stderr, "%s: %s\n", pawl_error_name(status), err.msg);
    return status == PAWL_OK ? 0 : 1;
}
