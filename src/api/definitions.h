/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files about definitions share.
 *
 *     definitions_list.c     lists, names, versions, consumers
 *     definitions_show.c     one definition, its nodes
 *     definitions_save.c     saving and importing
 *     definitions_change.c   publishing, retracting, reverting, deleting; refresh and reload
 *     definitions_bulk.c     the same for many
 *     definitions_export.c   files
 */
#ifndef PAWL_API_DEFINITIONS_H
#define PAWL_API_DEFINITIONS_H

#include "api/endpoint.h"
#include "api/private.h"
#include "operations/definitions.h"
#include "views/definitions.h"

#define DEFINITIONS API_ELSA "/workflow-definitions"
#define DEFINITIONS_TAG "Workflow definitions"

/* Words of permissions. */
#define READ_DEFINITIONS "read:workflow-definitions"
#define WRITE_DEFINITIONS "write:workflow-definitions"
#define PUBLISH_DEFINITIONS "publish:workflow-definitions"
#define RETRACT_DEFINITIONS "retract:workflow-definitions"
#define DELETE_DEFINITIONS "delete:workflow-definitions"

/* Of requests that name one definition, or one version, in their path and have nothing else. */
struct definition_request {
    struct pawl_str id;
};
extern const struct api_field definition_by_definition_id[1]; /* {definitionId} */
extern const struct api_field definition_by_id[1];            /* {id} */

/* versionOptions; not given: `otherwise`. false: it was refused. */
bool definition_versions(struct api_call *call, struct pawl_str text,
                         enum pawl_version_pick otherwise, struct pawl_version_options *out);
/* The definition of a row that was changed just now. */
void definition_respond(struct api_call *call, int status, const struct pawl_definition_row *row);
/* The field If-Match: tags of which the latest version must have one; "": none. */
struct pawl_str definition_expected(const struct api_call *call);
/* The field ETag. */
void definition_add_tag(struct api_call *call, const struct pawl_definition_row *row);
/* A stored definition that cannot be loaded is 422, everything else as api_fail() has it. */
void definition_fail(struct api_call *call, int code);
/* What was saved or published; of a publication that was refused, why. */
void definition_respond_saved(struct api_call *call, const char *content_type,
                              const struct pawl_definition_saved *saved);
/* {key: number} */
void definition_respond_count(struct api_call *call, const char *key, uint64_t count);

#endif
