/* SPDX-License-Identifier: Apache-2.0 */
/* Saving, validating, publishing, importing and exporting definitions. */
#include "base/error.h"
#include "base/json/builder.h"
#include "engine/load/catalog.h"
#include "operations/definitions_private.h"
#include "runtime/tenant.h"

static const struct pawl_json *member(const struct pawl_json *object, const char *name)
{
    return pawl__json_get_nocase(object, pawl__str(name));
}

void pawl__op_definition_tag(const struct pawl_definition_row *row,
                             char out[PAWL_OP_DEFINITION_TAG_SIZE])
{
    _Static_assert(PAWL_OP_DEFINITION_TAG_SIZE >= PAWL_DEFINITION_TAG_SIZE, "a tag fits");
    pawl__definition_tag(row, out);
}

/* ---- saving ------------------------------------------------------------------------------------
 */

static int save_published(const struct pawl_op *op, struct pawl_audit *by,
                          const struct pawl_json *definition,
                          const struct pawl_definition_save *save,
                          struct pawl_definition_saved *saved)
{
    struct pawl_catalog beside;
    int status = PAWL_OK;

    pawl__catalog_init(&beside, op->arena);
    for (size_t i = 0; i < save->beside_count && status == PAWL_OK; i++) {
        if (pawl__json_is(save->beside[i], PAWL_JSON_OBJECT))
            status = pawl__catalog_add(&beside, save->beside[i]);
    }
    if (status != PAWL_OK)
        return pawl__error_code(op->err, status);
    return pawl__definitions_save_published(op_definitions(op), by, definition, save->expected,
                                            beside.count > 0 ? &beside.resolver : NULL, op->arena,
                                            &saved->row, &saved->publication, op->deadline_ns,
                                            op->err);
}

static int count_consumers(const struct pawl_op *op, struct pawl_definition_saved *saved)
{
    struct pawl_definition_ids ids = {NULL, 0};
    int status = PAWL_OK;

    if (saved->row.usable_as_activity)
        status = pawl__definitions_consumers(op_definitions(op), saved->row.definition_id,
                                             op->arena, &ids, op->deadline_ns, op->err);
    saved->consumer_count = ids.count;
    return status == PAWL_ENOTFOUND ? PAWL_OK : status;
}

/* Of what failed behind the commit. */
static int tell_stored(const struct pawl_op *op, const struct pawl_definition_row *row,
                       const char *done, int status)
{
    return pawl__error_after_commit(op->err, status, "version %.*s of the definition %.*s was %s",
                                    PAWL_STR_ARG(row->id), PAWL_STR_ARG(row->definition_id), done);
}

/* What is saved of a model, if it can be. */
static int prepare_model(const struct pawl_op *op, const struct pawl_definition_save *save,
                         const struct pawl_json *definition, struct pawl_json *model)
{
    int status = op_model_of(op, definition, save->keeps_id, model);

    if (status == PAWL_OK)
        status = op_model_check(op, definition, save->pointer);
    if (status == PAWL_OK)
        status = pawl__definitions_check_words(model, op->err);
    if (status == PAWL_OK)
        status = op_model_check_loadable(op, model, save->pointer);
    return status == PAWL_OK
               ? op_definition_check_writable(op, pawl__json_str(member(model, "definitionId")))
               : status;
}

int pawl__op_definition_save(const struct pawl_op *op, const struct pawl_definition_save *save,
                             struct pawl_definition_saved *out)
{
    struct pawl_definition_saved saved = {.publication = {.succeeded = true}};
    struct pawl_json model = pawl__json_null();
    const struct pawl_json *definition = save->definition;
    struct op_record record;
    int status = PAWL_OK;

    if (!pawl__json_is(definition, PAWL_JSON_OBJECT))
        return pawl__error_set(op->err, PAWL_EPARSE, "a definition is an object, not %s",
                               pawl__json_type_name(definition));
    status = pawl__tenant_check(definition, "the definition", op->err);
    if (status == PAWL_OK && save->is_model) {
        status = prepare_model(op, save, definition, &model);
        definition = &model;
    }
    if (status == PAWL_OK)
        status = op_record_begin(op, &record, save->publish ? "publish" : "save", "definition",
                                 pawl__json_str(member(definition, "definitionId")));
    if (status == PAWL_OK) {
        op_record_new(&record);
        status = save->publish ? save_published(op, record.by, definition, save, &saved)
                               : pawl__definitions_import_by(op_definitions(op), record.by,
                                                             definition, save->expected, op->arena,
                                                             &saved.row, op->deadline_ns, op->err);
        status = op_record_end(op, &record, false, status);
    }
    if (status == PAWL_OK && save->is_model) {
        status = count_consumers(op, &saved);
        if (saved.publication.succeeded) /* else nothing is stored */
            status = tell_stored(op, &saved.row, save->publish ? "published" : "saved", status);
    }
    if (status == PAWL_OK)
        *out = saved;
    return status;
}

int pawl__op_definition_validate(const struct pawl_op *op, const struct pawl_json *definition,
                                 struct pawl_publication *out)
{
    struct pawl_publication said;
    int status = pawl__definitions_validate(op_definitions(op), definition, op->arena, &said,
                                            op->deadline_ns, op->err);

    if (status == PAWL_OK || status == PAWL_EPARSE)
        *out = said;
    return status;
}

/* The row that was found; or whichever is the latest at the moment of the commit. */
static int publish_found(const struct pawl_op *op, bool is_latest,
                         struct pawl_definition_saved *saved)
{
    struct pawl_definition_ref made = {.version_id = saved->row.id};
    struct op_record record;
    int status = op_record_begin(op, &record, "publish", "definition", saved->row.definition_id);

    if (status != PAWL_OK)
        return status;
    status = is_latest ? pawl__definitions_publish_latest(
                             op_definitions(op), record.by, saved->row.definition_id, op->arena,
                             &made.version_id, &saved->publication, op->deadline_ns, op->err)
                       : pawl__definitions_publish_by(op_definitions(op), record.by, saved->row.id,
                                                      op->arena, &saved->publication,
                                                      op->deadline_ns, op->err);
    status = op_record_end(op, &record, false, status);
    if (status != PAWL_OK || !saved->publication.succeeded)
        return status;
    saved->row.id = made.version_id;
    status = pawl__op_definition_find(op, &made, &saved->row);
    if (status == PAWL_OK)
        status = count_consumers(op, saved);
    return tell_stored(op, &saved->row, "published", status);
}

int pawl__op_definition_publish(const struct pawl_op *op, const struct pawl_definition_ref *ref,
                                struct pawl_definition_saved *out)
{
    struct pawl_definition_saved saved = {.publication = {.succeeded = true}};
    struct pawl_definition_ref which = *ref;
    int status;

    if (which.version_id.len == 0 && which.versions.pick == PAWL_VERSIONS_DEFAULT)
        which.versions.pick = PAWL_VERSIONS_LATEST;
    status = pawl__op_definition_find(op, &which, &saved.row);
    if (status == PAWL_OK)
        status = op_definition_check_writable(op, saved.row.definition_id);
    if (status != PAWL_OK)
        return status;
    saved.already_published = saved.row.is_published && saved.row.is_latest;
    if (!saved.already_published)
        status = publish_found(
            op, which.version_id.len == 0 && which.versions.pick == PAWL_VERSIONS_LATEST, &saved);
    if (status == PAWL_OK && (saved.already_published || !saved.publication.succeeded))
        status = count_consumers(op, &saved); /* nothing was stored */
    if (status == PAWL_OK)
        *out = saved;
    return status;
}

/* ---- importing ---------------------------------------------------------------------------------
 */

static int check_new(const struct pawl_op *op, const struct pawl_json *definition)
{
    struct pawl_definition_ref ref = {.definition_id =
                                          pawl__json_str(member(definition, "definitionId")),
                                      .versions = {PAWL_VERSIONS_NUMBER, 1}};
    struct pawl_definition_row row;
    int64_t version;
    int status;

    if (!member(definition, "root"))
        return pawl__error_set(op->err, PAWL_EPARSE,
                               "this is not a definition: it has no member 'root'");
    if (pawl__json_to_int(member(definition, "version"), &version) && version > 1)
        ref.versions.number = version;
    if (ref.definition_id.len == 0)
        return PAWL_OK;
    status = op_definition_check_writable(op, ref.definition_id);
    if (status != PAWL_OK)
        return status;
    status = op_definition_row(op, &ref, &row);
    if (status == PAWL_OK)
        return pawl__error_set(
            op->err, PAWL_EEXISTS, "definition %.*s version %lld exists already (as %.*s)",
            PAWL_STR_ARG(ref.definition_id), (long long)ref.versions.number, PAWL_STR_ARG(row.id));
    return status == PAWL_ENOTFOUND ? PAWL_OK : status;
}

/* That it cannot be loaded is the definition's fault. */
static int tell_imported(const struct pawl_op *op, const struct pawl_definition_row *row,
                         int status)
{
    if (status != PAWL_EPARSE)
        return tell_stored(op, row, "imported", status);
    return pawl__error_prefix(op->err, status,
                              "version %.*s of the definition %.*s was imported, but cannot be "
                              "loaded",
                              PAWL_STR_ARG(row->id), PAWL_STR_ARG(row->definition_id));
}

static int publish_imported(const struct pawl_op *op, struct pawl_audit *by,
                            struct pawl_definition_row *row)
{
    const struct pawl_definition_ref made = {.version_id = row->id};
    struct pawl_publication said = {.succeeded = false};
    int status = pawl__definitions_publish_by(op_definitions(op), by, row->id, op->arena, &said,
                                              op->deadline_ns, op->err);

    if (status == PAWL_OK && !said.succeeded)
        return pawl__error_set(op->err, PAWL_EPARSE, "kept as a draft, because it is not valid: %s",
                               said.problems.count > 0 ? said.problems.items[0].message : "");
    return tell_imported(op, row,
                         status == PAWL_OK ? pawl__op_definition_find(op, &made, row) : status);
}

int pawl__op_definition_import(const struct pawl_op *op, const struct pawl_json *definition,
                               struct pawl_definition_row *out)
{
    const struct pawl_json *says = member(definition, "isPublished");
    struct pawl_definition_row row;
    struct op_record record;
    int status = check_new(op, definition);

    if (status == PAWL_OK)
        status = op_record_begin(op, &record, "import", "definition",
                                 pawl__json_str(member(definition, "definitionId")));
    if (status == PAWL_OK)
        op_record_new(&record);
    if (status == PAWL_OK)
        status =
            op_record_end(op, &record, false,
                          pawl__definitions_provide_by(op_definitions(op), record.by, definition,
                                                       op->arena, &row, op->deadline_ns, op->err));
    if (status != PAWL_OK)
        return status;
    if (row.is_published) /* says what providing keeps to itself: that it cannot be loaded */
        status = tell_imported(op, &row,
                               pawl__definitions_index(op_definitions(op), row.definition_id,
                                                       op->deadline_ns, op->err));
    else if (!pawl__json_is(says, PAWL_JSON_BOOL))
        status = op_record_end(op, &record, false, publish_imported(op, record.by, &row));
    if (status == PAWL_OK)
        *out = row;
    return status;
}

int pawl__op_definitions_import(const struct pawl_op *op,
                                const struct pawl_json *const *definitions, size_t count,
                                struct pawl_definitions_imported *out)
{
    struct pawl_definition_save save = {.is_model = true, .keeps_id = true};
    struct pawl_json *models = pawl__arena_alloc_array(op->arena, count + 1, sizeof *models);
    struct pawl_op part = *op;
    struct op_record record;
    int status = models ? PAWL_OK : pawl__error_code(op->err, pawl__arena_status(op->arena));

    out->count = 0;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        out->refused = i;
        status = pawl__tenant_check(definitions[i], "the definition", op->err);
        if (status == PAWL_OK)
            status = prepare_model(op, &save, definitions[i], &models[i]);
    }
    if (status == PAWL_OK)
        status = op_record_begin_many(op, &record, "import", "definition");
    part.record = status == PAWL_OK ? record.by : NULL;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct pawl_definition_saved saved;

        out->refused = i;
        status = pawl__op_definition_save(
            &part, &(struct pawl_definition_save){.definition = &models[i]}, &saved);
        out->count += status == PAWL_OK;
    }
    return out->count == 0
               ? status
               : pawl__error_after_commit(op->err, status, "%zu of %zu definitions were imported",
                                          out->count, count);
}

/* ---- exporting ---------------------------------------------------------------------------------
 */

struct exporting {
    struct pawl_definition_row *rows;
    size_t count, cap;
};

static int add_row(const struct pawl_op *op, struct exporting *exporting,
                   const struct pawl_definition_row *row)
{
    for (size_t i = 0; i < exporting->count; i++) {
        if (pawl__str_equal(exporting->rows[i].id, row->id))
            return PAWL_OK;
    }
    if (exporting->count == exporting->cap) {
        size_t cap = exporting->cap ? exporting->cap * 2 : 8;
        struct pawl_definition_row *grown = pawl__arena_alloc_array(op->arena, cap, sizeof *grown);

        if (!grown)
            return pawl__error_code(op->err, pawl__arena_status(op->arena));
        for (size_t i = 0; i < exporting->count; i++)
            grown[i] = exporting->rows[i];
        exporting->rows = grown;
        exporting->cap = cap;
    }
    exporting->rows[exporting->count++] = *row;
    return PAWL_OK;
}

static int add_found(const struct pawl_op *op, struct exporting *exporting,
                     const struct pawl_definition_ref *ref, bool optional)
{
    struct pawl_definition_row row;
    int status = pawl__op_definition_find(op, ref, &row);

    if (status == PAWL_ENOTFOUND && optional)
        return PAWL_OK;
    return status == PAWL_OK ? add_row(op, exporting, &row) : status;
}

/* Those that use what is there so far, until there are no more: the list grows meanwhile. */
static int add_consumers(const struct pawl_op *op, struct exporting *exporting)
{
    int status = PAWL_OK;

    for (size_t i = 0; i < exporting->count && status == PAWL_OK; i++) {
        struct pawl_definition_ids ids = {NULL, 0};

        status = pawl__definitions_consumers(op_definitions(op), exporting->rows[i].definition_id,
                                             op->arena, &ids, op->deadline_ns, op->err);
        for (size_t j = 0; j < ids.count && status == PAWL_OK; j++)
            status = add_found(op, exporting,
                               &(struct pawl_definition_ref){.definition_id = ids.items[j],
                                                             .versions = {PAWL_VERSIONS_LATEST, 0}},
                               true);
    }
    return status;
}

int pawl__op_definitions_export(const struct pawl_op *op,
                                const struct pawl_definition_export *export_,
                                struct pawl_definition_list *out)
{
    struct exporting exporting = {NULL, 0, 0};
    int status = PAWL_OK;

    for (size_t i = 0; i < export_->version_id_count && status == PAWL_OK; i++)
        status =
            add_found(op, &exporting,
                      &(struct pawl_definition_ref){.version_id = export_->version_ids[i]}, true);
    if (!export_->version_ids)
        status = add_found(op, &exporting, &export_->ref, false);
    if (status == PAWL_OK && export_->with_consumers)
        status = add_consumers(op, &exporting);
    if (status != PAWL_OK)
        return status;
    *out = (struct pawl_definition_list){
        .rows = exporting.rows, .count = exporting.count, .page = {.next = pawl__str("")}};
    out->page.total = exporting.count;
    return PAWL_OK;
}
