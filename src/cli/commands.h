/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors, one per file cmd_NAME.c. */
#ifndef PAWL_CLI_COMMANDS_H
#define PAWL_CLI_COMMANDS_H

#include "cli/command/command.h"

extern const struct pawl_cli_command pawl__cli_activities;
extern const struct pawl_cli_command pawl__cli_alter;
extern const struct pawl_cli_command pawl__cli_audit;
extern const struct pawl_cli_command pawl__cli_definitions_refresh;
extern const struct pawl_cli_command pawl__cli_definitions_reload;
extern const struct pawl_cli_command pawl__cli_retain;
extern const struct pawl_cli_command pawl__cli_retry;
extern const struct pawl_cli_command pawl__cli_cancel;
extern const struct pawl_cli_command pawl__cli_completion;
extern const struct pawl_cli_command pawl__cli_config;
extern const struct pawl_cli_command pawl__cli_deadletters;
extern const struct pawl_cli_command pawl__cli_definitions;
extern const struct pawl_cli_command pawl__cli_eval;
extern const struct pawl_cli_command pawl__cli_export;
extern const struct pawl_cli_command pawl__cli_graph;
extern const struct pawl_cli_command pawl__cli_help;
extern const struct pawl_cli_command pawl__cli_import;
extern const struct pawl_cli_command pawl__cli_journal;
extern const struct pawl_cli_command pawl__cli_json;
extern const struct pawl_cli_command pawl__cli_lock;
extern const struct pawl_cli_command pawl__cli_lock_check;
extern const struct pawl_cli_command pawl__cli_lock_ls;
extern const struct pawl_cli_command pawl__cli_lock_show;
extern const struct pawl_cli_command pawl__cli_nodes;
extern const struct pawl_cli_command pawl__cli_open;
extern const struct pawl_cli_command pawl__cli_pause;
extern const struct pawl_cli_command pawl__cli_ps;
extern const struct pawl_cli_command pawl__cli_publish;
extern const struct pawl_cli_command pawl__cli_resume;
extern const struct pawl_cli_command pawl__cli_rm;
extern const struct pawl_cli_command pawl__cli_run;
extern const struct pawl_cli_command pawl__cli_send;
extern const struct pawl_cli_command pawl__cli_show;
extern const struct pawl_cli_command pawl__cli_start;
extern const struct pawl_cli_command pawl__cli_store;
extern const struct pawl_cli_command pawl__cli_tasks;
extern const struct pawl_cli_command pawl__cli_routes;
extern const struct pawl_cli_command pawl__cli_timers;
extern const struct pawl_cli_command pawl__cli_top;
extern const struct pawl_cli_command pawl__cli_unpause;
extern const struct pawl_cli_command pawl__cli_validate;
extern const struct pawl_cli_command pawl__cli_verify_cluster;
extern const struct pawl_cli_command pawl__cli_version;
extern const struct pawl_cli_command pawl__cli_why;
extern const struct pawl_cli_command pawl__cli_worker;
extern const struct pawl_cli_command pawl__cli_serve;
extern const struct pawl_cli_command pawl__cli_api;
extern const struct pawl_cli_command pawl__cli_users;
extern const struct pawl_cli_command pawl__cli_roles;
extern const struct pawl_cli_command pawl__cli_keys;

struct pawl_cli_session;

/* cmd_serve.c: `pawl serve --dev` and `pawl run --http`. Returns the exit code. */
int pawl__cli_serve_dev(struct pawl_cli *cli);
/* cmd_routes.c: the routes of workflows with commands that try them at `address`, a line each. */
void pawl__cli_print_routes(struct pawl_cli_session *session, struct pawl_str address);

#endif
