/* SPDX-License-Identifier: Apache-2.0 */
/* The list of built-in types. Add new types here. */
#include "activities/activities.h"

#include "activities/branching.h"
#include "activities/child.h"
#include "activities/console.h"
#include "activities/descriptor.h"
#include "activities/events.h"
#include "activities/flowchart.h"
#include "activities/http_client.h"
#include "activities/http_endpoint.h"
#include "activities/javascript.h"
#include "activities/looping.h"
#include "activities/primitives.h"
#include "activities/scheduling.h"
#include "activities/sequence.h"
#include "activities/state_machine.h"
#include "activities/tasks.h"
#include "activities/workflow.h"

static const struct pawl_activity *const built_in[] = {
    &pawl__activity_workflow,
    &pawl__activity_workflow_definition,
    &pawl__activity_sequence,
    &pawl__activity_parallel,
    &pawl__activity_fork,
    &pawl__activity_flowchart,
    &pawl__activity_flow_decision,
    &pawl__activity_flow_switch,
    &pawl__activity_flow_fork,
    &pawl__activity_flow_join,
    &pawl__activity_flow_node,
    &pawl__activity_start,
    &pawl__activity_end,
    &pawl__activity_if,
    &pawl__activity_switch,
    &pawl__activity_while,
    &pawl__activity_for,
    &pawl__activity_for_each,
    &pawl__activity_parallel_for_each,
    &pawl__activity_break,
    &pawl__activity_set_variable,
    &pawl__activity_set_name,
    &pawl__activity_set_output,
    &pawl__activity_correlate,
    &pawl__activity_fault,
    &pawl__activity_finish,
    &pawl__activity_complete,
    &pawl__activity_inline,
    &pawl__activity_not_found,
    &pawl__activity_dynamic,
    &pawl__activity_write_line,
    &pawl__activity_read_line,
    &pawl__activity_event,
    &pawl__activity_publish_event,
    &pawl__activity_run_task,
    &pawl__activity_run_javascript,
    &pawl__activity_delay,
    &pawl__activity_timer,
    &pawl__activity_cron,
    &pawl__activity_start_at,
    &pawl__activity_dispatch_workflow,
    &pawl__activity_execute_workflow,
    &pawl__activity_bulk_dispatch_workflows,
    &pawl__activity_state_machine,
    &pawl__activity_send_http_request,
    &pawl__activity_flow_send_http_request,
    &pawl__activity_download_http_file,
    &pawl__activity_http_endpoint,
    &pawl__activity_write_file_http_response,
    &pawl__activity_write_http_response,
};

int pawl__activities_register(struct pawl_engine *engine)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < PAWL_COUNT(built_in) && status == PAWL_OK; i++)
        status = pawl__engine_add_activity(engine, built_in[i]);
    return status;
}
