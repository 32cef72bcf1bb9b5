/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/loading.h"
#include "lib/vocabulary.h"

#include <stdio.h>
#include <string.h>

/* A definition around activities in a sequence. */
#define SEQUENCE(activities)                                                                       \
    "{\"id\":\"d1\",\"definitionId\":\"d\",\"root\":{\"id\":\"s\",\"type\":\"Elsa.Sequence\","     \
    "\"activities\":[" activities "]}}"
#define WRITE(rest) "{\"type\":\"Elsa.WriteLine\"" rest "}"

static struct pawl_node *node_at(struct loading *loading, const char *node_id)
{
    struct pawl_node *node = pawl__graph_node(loading->graph, pawl__str(node_id));

    if (!node)
        fail_msg("there is no node '%s'", node_id);
    return node;
}

/* ---- ids --------------------------------------------------------------------------------- */

static void keeps_ids_and_makes_the_missing_ones_in_pre_order(void **state)
{
    static const char *const expected[] = {
        "Workflow1",
        "Workflow1:s",
        "Workflow1:s:WriteLine1",
        "Workflow1:s:If1",
        "Workflow1:s:If1:WriteLine3",
        "Workflow1:s:If1:Sequence1",
        "Workflow1:s:If1:Sequence1:WriteLine4",
        "Workflow1:s:WriteLine2",
        "Workflow1:s:WriteLine5",
    };
    struct loading l;

    (void)state;
    loading_init(&l);
    loading_load(
        &l,
        SEQUENCE(WRITE() "," /* blank is missing, a taken number is passed over */
                         "{\"type\":\"Elsa.If\",\"else\":{\"type\":\"Elsa.Sequence\","
                         "\"id\":\"  \",\"activities\":[" WRITE() "]},\"then\":" WRITE() "}," WRITE(
                             ",\"id\":\"WriteLine2\"") "," WRITE()));
    assert_int_equal(l.graph->node_count, 9);
    for (uint32_t i = 0; i < 9; i++) {
        assert_str(l.graph->nodes[i]->node_id, expected[i]);
        assert_int_equal(l.graph->nodes[i]->index, i);
    }
    assert_str(l.graph->nodes[4]->port, "Then");
    assert_str(l.graph->nodes[4]->pointer, "/root/activities/1/then");
    assert_ptr_equal(l.graph->root, l.graph->nodes[0]);
    assert_ptr_equal(l.graph->root->workflow, l.graph->workflow);
    loading_release(&l);
}

static void children_of_own_places_come_before_those_of_declared_ports(void **state)
{
    struct loading l;

    (void)state;
    loading_init(&l);
    loading_load(
        &l,
        "{\"root\":{\"type\":\"Elsa.Switch\",\"default\":" WRITE() ","
                                                                   "\"cases\":[{\"label\":\"A\","
                                                                   "\"condition\":{\"type\":"
                                                                   "\"JavaScript\","
                                                                   "\"value\":\"true\"},"
                                                                   "\"activity\":" WRITE() "},{"
                                                                                           "\"label"
                                                                                           "\":"
                                                                                           "\"B\"},"
                                                                                           "{\"labe"
                                                                                           "l\":"
                                                                                           "\"C\","
                                                                                           "\"activ"
                                                                                           "ity\""
                                                                                           ":" WRITE() "}]}}");
    assert_str(node_at(&l, "Workflow1:Switch1:WriteLine1")->port, "A");
    assert_str(node_at(&l, "Workflow1:Switch1:WriteLine2")->port, "C");
    assert_str(node_at(&l, "Workflow1:Switch1:WriteLine3")->port, "Default");
    assert_str(node_at(&l, "Workflow1:Switch1:WriteLine2")->pointer, "/root/cases/2/activity");
    loading_release(&l);
}

static void refuses_two_siblings_of_one_id(void **state)
{
    struct loading l;

    (void)state;
    loading_init(&l);
    assert_code(loading_try(&l, loading_parse(&l, pawl__str(SEQUENCE(
                                                      WRITE(",\"id\":\"a\"") "," WRITE() "," WRITE(
                                                          ",\"id\":\"a\""))))),
                PAWL_EPARSE);
    assert_string_equal(l.err.msg, "/root/activities/2: there are two activities 'a' (node id "
                                   "'Workflow1:s:a'); give each an id of its own");
    /* Under different parents they are different nodes. */
    loading_load(&l, SEQUENCE(WRITE(",\"id\":\"a\"") ",{\"type\":\"Elsa.If\",\"then\":" WRITE(
                         ",\"id\":\"a\"") "}"));
    loading_release(&l);
}

/* ---- workflows used as activities -------------------------------------------------------- */

#define GRANDCHILD                                                                                 \
    "{\"id\":\"g-1\",\"definitionId\":\"g\",\"name\":\"Grand Child\",\"version\":3,"               \
    "\"options\":{\"usableAsActivity\":true},\"root\":{\"type\":\"Elsa.Sequence\"}}"
#define CHILD                                                                                      \
    "{\"id\":\"c-1\",\"definitionId\":\"c\",\"name\":\"the_child\",\"usableAsActivity\":true,"     \
    "\"outcomes\":[\"Yes\",\"No\"],\"inputs\":[{\"name\":\"Title\",\"type\":\"String\","           \
    "\"storageDriverType\":\"WorkflowInstanceStorageDriver\"},{\"name\":\"Name\","                 \
    "\"type\":\"Int32\"}],\"outputs\":[{\"name\":\"Sum\",\"type\":\"Int32\"}],"                    \
    "\"variables\":[{\"name\":\"V\",\"typeName\":\"Int32\",\"value\":\"4\"}],"                     \
    "\"root\":{\"id\":\"q\",\"type\":\"Elsa.Sequence\",\"activities\":["                           \
    "{\"id\":\"gc\",\"type\":\"GrandChild\"},{\"type\":\"Elsa.RunJavaScript\","                    \
    "\"result\":{\"typeName\":\"Object\",\"memoryReference\":{\"id\":\"Sum\"}}}]}}"

static void embeds_workflows_with_the_ids_they_have_alone(void **state)
{
    struct loading l;
    struct pawl_node *node;

    (void)state;
    loading_init(&l);
    loading_offer(&l, GRANDCHILD);
    loading_offer(&l, CHILD);
    loading_load(&l, SEQUENCE("{\"id\":\"x\",\"type\":\"TheChild\"},{\"id\":\"y\",\"type\":"
                              "\"TheChild\",\"title\":{\"typeName\":\"String\",\"expression\":"
                              "{\"type\":\"Literal\",\"value\":\"T\"}},\"_name\":7}"));
    node_at(&l, "Workflow3:s:x:Workflow2:q:gc:Workflow1:Sequence1");
    node_at(&l, "Workflow3:s:y:Workflow2:q:gc:Workflow1:Sequence1");
    node_at(&l, "Workflow3:s:y:Workflow2:q:RunJavaScript1");
    node = node_at(&l, "Workflow3:s:y");
    assert_string_equal(node->activity->type, "TheChild");
    assert_str(node->type, "TheChild");
    assert_int_equal(node->activity->input_count, 2);
    assert_string_equal(node->activity->inputs[1].name, "_Name");
    assert_int_equal(node->activity->output_count, 1);
    assert_int_equal(node->activity->port_count, 3);
    assert_string_equal(node->activity->ports[2].name, "No");
    assert_true(node->activity->ports[2].flow);
    assert_str(pawl__json_str(&node->inputs[0].expression.value), "T");
    assert_str(pawl__json_str(&node->inputs[1].expression.value), "7");
    assert_int_equal(node->variable_count, 3);
    assert_str(node->variables[1].id, "Name");
    assert_int_equal(node->variables[0].storage, PAWL_STORAGE_INSTANCE);
    assert_int_equal(node->variables[2].storage, PAWL_STORAGE_NONE);
    assert_ptr_equal(node->workflow, node->children[0]->workflow);
    assert_str(node->children[0]->variables[0].id, "Workflow2:variable-1");
    assert_int_equal(l.graph->embedded_count, 2);
    assert_int_equal(node_at(&l, "Workflow3:s:x:Workflow2:q:gc")->version, 3);
    assert_int_equal(l.problems.count, 0);
    loading_release(&l);
}

static void finds_embedded_versions_as_the_reference_does(void **state)
{
    static const struct {
        const char *keys;
        const char *type;
        int version;
    } cases[] = {
        {"\"type\":\"A\",\"version\":1", "A", 1},
        {"\"type\":\"A\",\"version\":9", "A", 2},
        {"\"type\":\"A\"", "A", 2},
        {"\"type\":\"A\",\"version\":2,\"workflowDefinitionVersionId\":\"a1\"", "A", 1},
        {"\"type\":\"Gone\",\"workflowDefinitionId\":\"b\"", "B", 1},
        {"\"type\":\"Elsa.WriteLine\",\"workflowDefinitionVersionId\":\"b1\"", "B", 1},
        {"\"type\":\"Elsa.WriteLine\",\"workflowDefinitionVersionId\":\"?\"", "Elsa.WriteLine", 1},
        /* an unknown version id falls back to the published version */
        {"\"type\":\"A\",\"version\":2,\"workflowDefinitionVersionId\":\"?\"", "A", 1},
        {"\"type\":\"Secret\"", "Secret", 0},
    };
    struct loading l;

    (void)state;
    loading_init(&l);
    loading_offer(&l, "{\"id\":\"a1\",\"definitionId\":\"a\",\"name\":\"A\",\"version\":1,"
                      "\"isPublished\":true,\"options\":{\"usableAsActivity\":true}}");
    loading_offer(&l, "{\"id\":\"a2\",\"definitionId\":\"a\",\"name\":\"A\",\"version\":2,"
                      "\"options\":{\"usableAsActivity\":true}}");
    loading_offer(&l, "{\"id\":\"b1\",\"definitionId\":\"b\",\"name\":\"B\",\"version\":1,"
                      "\"usableAsActivity\":true}");
    loading_offer(&l, "{\"id\":\"s1\",\"definitionId\":\"s\",\"name\":\"Secret\",\"version\":1,"
                      "\"options\":{\"usableAsActivity\":false},\"usableAsActivity\":true}");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        const struct pawl_node *root;

        (void)snprintf(text, sizeof text, "{\"root\":{%s}}", cases[i].keys);
        root = loading_load(&l, text)->root->children[0];
        assert_str(root->type, cases[i].type);
        assert_int_equal(root->version, cases[i].version);
    }
    loading_release(&l);
}

static void refuses_a_workflow_that_contains_itself(void **state)
{
    static const char a[] = "{\"id\":\"a1\",\"definitionId\":\"a\",\"name\":\"A\","
                            "\"usableAsActivity\":true,\"root\":{\"type\":\"B\"}}";
    struct loading l;

    (void)state;
    loading_init(&l);
    loading_offer(&l, a);
    loading_offer(&l, "{\"id\":\"b1\",\"definitionId\":\"b\",\"name\":\"B\","
                      "\"usableAsActivity\":true,\"root\":{\"type\":\"A\"}}");
    assert_code(loading_try(&l, loading_parse(&l, pawl__str(a))), PAWL_EPARSE);
    assert_string_equal(l.err.msg,
                        "/root: in workflow 'B' at /root: the workflow 'A' would contain itself "
                        "without end; start it as an instance of its own with "
                        "Elsa.ExecuteWorkflow or Elsa.DispatchWorkflow");
    loading_release(&l);
}

static void tells_problems_of_an_embedded_workflow_once_where_it_is_embedded(void **state)
{
    struct loading l;

    (void)state;
    loading_init(&l);
    loading_offer(&l, "{\"id\":\"a1\",\"definitionId\":\"a\",\"name\":\"A\",\"usableAsActivity\":"
                      "true,\"root\":{\"type\":\"Elsa.Nothing\"}}");
    loading_load(&l, SEQUENCE(WRITE() ",{\"type\":\"A\"},{\"type\":\"A\"}"));
    assert_int_equal(l.problems.count, 1);
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_ERROR, "/root/activities/1",
                                    "in workflow 'A' at /root: unknown activity type"));
    loading_release(&l);
}

/* ---- placeholders ------------------------------------------------------------------------ */

static void an_unknown_type_becomes_a_placeholder_of_version_0(void **state)
{
    struct loading l;
    struct pawl_node *node;

    (void)state;
    loading_init(&l);
    loading_load(&l, SEQUENCE("{\"id\":\"a\",\"type\":\"My.Activity\",\"version\":5},"
                              "{\"type\":\"My.Other\"}"));
    node = node_at(&l, "Workflow1:s:a");
    assert_string_equal(node->activity->type, "Elsa.NotFoundActivity");
    assert_str(node->type, "My.Activity");
    assert_int_equal(node->version, 0);
    node_at(&l, "Workflow1:s:NotFoundActivity1");
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_ERROR, "/root/activities/0",
                                    "unknown activity type 'My.Activity'"));
    loading_release(&l);
}

static void a_saved_placeholder_comes_back_when_its_type_is_known(void **state)
{
    struct loading l;
    struct pawl_node *node;

    (void)state;
    loading_init(&l);
    loading_load(&l,
                 SEQUENCE("{\"id\":\"x\",\"type\":\"Elsa.NotFoundActivity\",\"missingTypeName\":"
                          "\"Elsa.WriteLine\",\"missingTypeVersion\":1,"
                          "\"originalActivityJson\":\"{\\\"id\\\":\\\"w\\\",\\\"type\\\":"
                          "\\\"Elsa.WriteLine\\\",\\\"text\\\":\\\"hi\\\"}\"},"
                          "{\"id\":\"y\",\"type\":\"Elsa.NotFoundActivity\",\"missingTypeName\":"
                          "\"My.Gone\",\"originalActivityJson\":\"{]\"}"));
    node = node_at(&l, "Workflow1:s:w");
    assert_string_equal(node->activity->type, "Elsa.WriteLine");
    assert_str(pawl__json_str(&node->inputs[0].expression.value), "hi");
    assert_str(node_at(&l, "Workflow1:s:y")->type, "My.Gone");
    loading_release(&l);
}

/* ---- inputs and outputs ------------------------------------------------------------------ */

/* The Text of a WriteLine given as JSON. */
static const struct pawl_input *text_of(struct loading *l, const char *json)
{
    char text[512];

    (void)snprintf(text, sizeof text, "{\"root\":{\"type\":\"Elsa.WriteLine\",\"TEXT\":%s}}", json);
    return &loading_load(l, text)->root->children[0]->inputs[0];
}

#define WRAPPED(type, value)                                                                       \
    "{\"typeName\":\"String\",\"expression\":{\"type\":" type ",\"value\":" value "}}"

static void reads_literals_as_the_reference_does(void **state)
{
    static const struct {
        const char *json;
        enum pawl_json_type type;
        const char *text;
    } cases[] = {
        {WRAPPED("\"Literal\"", "\"a\""), PAWL_JSON_STRING, "a"},
        {WRAPPED("null", "\"a\""), PAWL_JSON_STRING, "a"},
        {WRAPPED("\"Literal\"", "1.10"), PAWL_JSON_NUMBER, NULL},
        {WRAPPED("\"Literal\"", "true"), PAWL_JSON_BOOL, NULL},
        {WRAPPED("\"Literal\"", "null"), PAWL_JSON_NULL, NULL},
        {WRAPPED("\"Literal\"", "{\"a\": [1, 2]}"), PAWL_JSON_STRING, "{\"a\":[1,2]}"},
        {WRAPPED("\"Object\"", "[1]"), PAWL_JSON_STRING, "[1]"},
        {WRAPPED("\"Variable\"", "{\"id\":\"v\"}"), PAWL_JSON_OBJECT, NULL},
        {"\"plain\"", PAWL_JSON_STRING, "plain"},
        {"5", PAWL_JSON_STRING, "5"},
        {"true", PAWL_JSON_STRING, "True"},
        {"[\"GET\"]", PAWL_JSON_STRING, "[\"GET\"]"},
    };
    struct loading l;

    (void)state;
    loading_init(&l);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pawl_input *input = text_of(&l, cases[i].json);

        assert_non_null(input->expression.ops);
        assert_int_equal(pawl__json_type(&input->expression.value), cases[i].type);
        if (cases[i].text)
            assert_str(pawl__json_str(&input->expression.value), cases[i].text);
    }
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_WARNING, "/root/text",
                                    "expected an object or a literal, found an array"));
    loading_release(&l);
}

static void drops_inputs_it_cannot_read_and_says_so(void **state)
{
    static const struct {
        const char *json;
        enum pawl_problem_level level;
        const char *pointer;
        const char *problem;
    } cases[] = {
        {WRAPPED("\"Cobol\"", "\"x\""), PAWL_PROBLEM_ERROR, "/root/text/expression",
         "unknown expression type 'Cobol': it counts as not set"},
        {WRAPPED("\"literal\"", "\"x\""), PAWL_PROBLEM_ERROR, "/root/text/expression",
         "unknown expression type 'literal'"},
        {"{\"typeName\":\"String\",\"expression\":{\"value\":1}}", PAWL_PROBLEM_ERROR,
         "/root/text/expression", "has no \"type\""},
        {"{\"expression\":{\"type\":\"Literal\",\"value\":1}}", PAWL_PROBLEM_WARNING,
         "/root/text/expression", "has no \"typeName\""},
    };
    struct loading l;

    (void)state;
    loading_init(&l);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_null(text_of(&l, cases[i].json)->expression.ops);
        assert_true(loading_has_problem(&l, cases[i].level, cases[i].pointer, cases[i].problem));
    }
    assert_null(text_of(&l, "null")->expression.ops);
    assert_int_equal(l.problems.count, 0);
    loading_release(&l);
}

static void gives_defaults_and_naked_values_and_demands_what_is_required(void **state)
{
    struct loading l;
    const struct pawl_node *node;

    (void)state;
    loading_init(&l);
    node = loading_load(&l, "{\"root\":{\"type\":\"Elsa.FlowJoin\"}}")->root->children[0];
    assert_null(node->inputs[0].expression.ops);
    assert_str(pawl__json_str(&node->inputs[0].initial.json), "WaitAny");
    node = loading_load(&l, "{\"root\":{\"type\":\"Elsa.SetVariable\",\"variable\":{\"id\":\"v\"},"
                            "\"value\":1}}")
               ->root->children[0];
    assert_str(pawl__json_str(pawl__json_get_text(node->inputs[0].naked, "id")), "v");
    assert_non_null(node->inputs[1].expression.ops);
    loading_load(&l, "{\"root\":{\"type\":\"Elsa.Event\",\"eventName\":null}}");
    assert_true(
        loading_has_problem(&l, PAWL_PROBLEM_ERROR, "/root", "input 'eventName' is required"));
    loading_release(&l);
}

static void warns_of_enum_names_that_fault_or_do_not_count(void **state)
{
#define JOIN(value)                                                                                \
    "{\"root\":{\"type\":\"Elsa.FlowJoin\",\"mode\":{\"typeName\":\"FlowJoinMode\","               \
    "\"expression\":{\"type\":\"Literal\",\"value\":" value "}}}}"
    struct loading l;

    (void)state;
    loading_init(&l);
    loading_load(&l, JOIN("\"waitall\""));
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_ERROR, "/root/mode", "write 'WaitAll'"));
    loading_load(&l, JOIN("\"Sometimes\""));
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_ERROR, "/root/mode", "'Sometimes' is no"));
    loading_load(&l, JOIN("2"));
    assert_true(
        loading_has_problem(&l, PAWL_PROBLEM_WARNING, "/root/mode", "it counts as 'WaitAll'"));
    loading_load(&l, JOIN("\"WaitAny\""));
    assert_int_equal(l.problems.count, 0);
    loading_load(&l, JOIN("\"1\""));
    assert_int_equal(l.problems.count, 0);
    loading_release(&l);
}

static void warns_of_outputs_bound_to_nothing(void **state)
{
#define SCRIPT(id, to)                                                                             \
    "{\"id\":\"" id "\",\"type\":\"Elsa.RunJavaScript\",\"result\":{\"typeName\":\"Object\","      \
    "\"memoryReference\":{\"id\":\"" to "\"}}}"
    struct loading l;

    (void)state;
    loading_init(&l);
    loading_load(&l, "{\"outputs\":[{\"name\":\"Out\",\"type\":\"Int32\"}],\"variables\":[{"
                     "\"id\":\"v\",\"name\":\"V\",\"typeName\":\"Int32\"}],\"root\":{\"type\":"
                     "\"Elsa.Sequence\",\"activities\":[{\"type\":\"Elsa.Sequence\",\"variables\":"
                     "[{\"id\":\"inner\"}],\"activities\":[" SCRIPT("a", "v") "," SCRIPT(
                         "b", "Out") "," SCRIPT("c", "inner") "]}," SCRIPT("d", "inner") "]}}");
    assert_int_equal(l.problems.count, 1);
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_WARNING, "/root/activities/1",
                                    "'Result' is bound to 'inner'"));
    assert_string_equal(l.problems.items[0].activity_id, "d");
    assert_str(node_at(&l, "Workflow1:Sequence1:d")->outputs[0].reference, "inner");
    loading_release(&l);
}

/* ---- common keys ------------------------------------------------------------------------- */

static void reads_flags_in_all_their_places(void **state)
{
    struct loading l;

    (void)state;
    loading_init(&l);
    loading_load(
        &l,
        SEQUENCE(WRITE(
            ",\"id\":\"a\",\"customProperties\":{\"canStartWorkflow\":true,"
            "\"source\":\"f:1\","
            "\"mergeMode\":\"Race\",\"commitStrategyName\":"
            "\"CommitAlways\"}") "," WRITE(",\"id\":\"b\","
                                           "\"customProperties\":{"
                                           "\"CanStartWorkflow\":true,"
                                           "\"RunAsynchronously\":true}") "," WRITE(",\"id\":"
                                                                                    "\"c\","
                                                                                    "\"canSta"
                                                                                    "rtWorkfl"
                                                                                    "ow\":"
                                                                                    "true,"
                                                                                    "\"runAsy"
                                                                                    "nchronou"
                                                                                    "sly\":"
                                                                                    "true") "," WRITE(",\"id\":\"d\",\"Name\":\"N\",\"canStartWorkflow\":true,"
                                                                                                      "\"customProperties\":{\"canStartWorkflow\":false}")));
    assert_true(node_at(&l, "Workflow1:s:a")->can_start_workflow);
    assert_str(node_at(&l, "Workflow1:s:a")->source, "f:1");
    assert_str(node_at(&l, "Workflow1:s:a")->merge_mode, "Race");
    assert_str(node_at(&l, "Workflow1:s:a")->commit_strategy, "CommitAlways");
    assert_true(node_at(&l, "Workflow1:s:b")->can_start_workflow);
    assert_true(node_at(&l, "Workflow1:s:b")->run_asynchronously);
    assert_true(node_at(&l, "Workflow1:s:c")->can_start_workflow);
    assert_true(node_at(&l, "Workflow1:s:c")->run_asynchronously);
    assert_false(node_at(&l, "Workflow1:s:d")->can_start_workflow);
    assert_str(node_at(&l, "Workflow1:s:d")->name, "N");
    loading_release(&l);
}

static void strips_type_marks_and_unwraps_lists(void **state)
{
    struct loading l;
    const struct pawl_node *node;

    (void)state;
    loading_init(&l);
    loading_load(&l, "{\"root\":{\"type\":\"Elsa.Sequence\",\"_type\":\"X\",\"activities\":{"
                     "\"_type\":\"List\",\"items\":[" WRITE(
                         ",\"id\":\"a\",\"metadata\":{\"_type\":"
                         "\"M\",\"x\":{\"_type\":\"L\",\"values\":[{\"_type\":\"I\"}]}}") "]}}}");
    node = node_at(&l, "Workflow1:Sequence1:a");
    assert_null(pawl__json_find(node->json, pawl__str("/metadata/_type")));
    assert_int_equal(pawl__json_len(pawl__json_find(node->json, pawl__str("/metadata/x/0"))), 0);
    assert_non_null(pawl__json_find(node->json, pawl__str("/metadata/x/0")));
    loading_release(&l);
}

/* ---- variables --------------------------------------------------------------------------- */

static void reads_workflow_variables(void **state)
{
    struct loading l;
    const struct pawl_workflow *workflow;

    (void)state;
    loading_init(&l);
    workflow =
        loading_load(&l, "{\"root\":null,\"variables\":["
                         "{\"id\":\"a\",\"name\":\"A\",\"typeName\":\"Int32\",\"value\":\"12\","
                         "\"storageDriverTypeName\":\"WorkflowInstanceStorageDriver\"},"
                         "{\"id\":\"b\",\"name\":\"B\",\"typeName\":\"No.Such\"},"
                         "{\"name\":\"C\",\"typeName\":\"String\",\"isArray\":true,\"value\":\" \","
                         "\"storageDriverTypeName\":\"X.workflowstoragedriver, Y\"},"
                         "{\"id\":\"d\",\"name\":\"D\",\"typeName\":\"Int32\",\"value\":\"abc\","
                         "\"storageDriverTypeName\":\"Floppy\"}]}")
            ->workflow;
    assert_int_equal(workflow->variable_count, 3);
    assert_str(workflow->variables[0].id, "a");
    assert_int_equal(workflow->variables[0].storage, PAWL_STORAGE_INSTANCE);
    assert_int_equal(workflow->variables[0].initial.json.u.integer, 12);
    assert_str(workflow->variables[1].name, "C");
    assert_str(workflow->variables[1].id, "Workflow1:variable-1");
    assert_int_equal(workflow->variables[1].type->kind, PAWL_TYPE_ARRAY);
    assert_int_equal(workflow->variables[1].storage, PAWL_STORAGE_WORKFLOW);
    assert_true(pawl__value_is_null(workflow->variables[1].initial));
    assert_int_equal(workflow->variables[2].initial.json.u.integer, 0);
    assert_int_equal(workflow->variables[2].storage, PAWL_STORAGE_NONE);
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_ERROR, "/variables/1", "'No.Such'"));
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_WARNING, "/variables/3", "'abc'"));
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_WARNING, "/variables/3", "'Floppy'"));
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_WARNING, "", "has no root"));
    assert_string_equal(l.graph->root->children[0]->activity->type, "Elsa.Sequence");
    loading_release(&l);
}

static void names_container_variables_that_have_no_name_or_id(void **state)
{
    struct loading l;
    const struct pawl_node *node;

    (void)state;
    loading_init(&l);
    loading_load(&l, "{\"root\":{\"id\":\"s\",\"type\":\"Elsa.Sequence\",\"variables\":["
                     "{\"id\":\"v1\",\"name\":\"First\",\"value\":1},{\"id\":\"v2\",\"typeName\":"
                     "\"No.Such\"},{\"name\":\"Third\",\"storageDriverTypeName\":"
                     "\"Elsa.Workflows.MemoryStorageDriver, Elsa.Workflows.Core\"},{}]}}");
    node = node_at(&l, "Workflow1:s");
    assert_int_equal(node->variable_count, 4);
    assert_str(node->variables[0].name, "First");
    assert_str(pawl__json_str(&node->variables[0].initial.json), "1");
    assert_str(node->variables[1].name, "Variable1");
    assert_ptr_equal(node->variables[1].type, &pawl__type_object);
    assert_str(node->variables[2].id, "s:variable-1");
    assert_int_equal(node->variables[2].storage, PAWL_STORAGE_MEMORY);
    assert_str(node->variables[3].id, "s:variable-2");
    assert_str(node->variables[3].name, "Variable2");
    loading_release(&l);
}

/* ---- the definition ---------------------------------------------------------------------- */

static void reads_the_head_and_the_options(void **state)
{
    struct loading l;
    const struct pawl_workflow *w;

    (void)state;
    loading_init(&l);
    w = loading_load(&l,
                     "{\"id\":\"i\",\"definitionId\":\"d\",\"name\":\"  The Name \","
                     "\"version\":7,\"toolVersion\":\"3.6.0.0\",\"isSystem\":true,"
                     "\"unknown\":{},\"Root\":{\"type\":\"Elsa.End\"},\"options\":{"
                     "\"incidentStrategyType\":\"Elsa.Workflows.IncidentStrategies."
                     "ContinueWithIncidentsStrategy, Elsa.Workflows.Core\","
                     "\"activationStrategyType\":\"UnregisteredClrType:Elsa.Workflows.Runtime."
                     "ActivationValidators.SingletonStrategy, Elsa.Workflows.Runtime\","
                     "\"commitStrategyName\":\"ActivityExecuted\"},\"inputs\":[{\"name\":\"I\","
                     "\"type\":\"Int32\",\"storageDriverType\":\"WorkflowStorageDriver\"}],"
                     "\"outputs\":[{\"name\":\"O\",\"type\":\"No.Such\"},{\"type\":\"Int32\"}]}")
            ->workflow;
    assert_str(w->version_id, "i");
    assert_str(w->definition_id, "d");
    assert_str(w->name, "The Name");
    assert_str(w->tool_version, "3.6.0.0");
    assert_int_equal(w->version, 7);
    assert_true(w->is_system);
    assert_int_equal(w->incident_strategy, PAWL_INCIDENT_CONTINUE);
    assert_str(w->activation_strategy, "SingletonStrategy");
    assert_str(w->commit_strategy, "ActivityExecuted");
    assert_int_equal(w->input_count, 1);
    assert_int_equal(w->inputs[0].storage, PAWL_STORAGE_WORKFLOW);
    assert_ptr_equal(w->inputs[0].type, &pawl__type_int32);
    assert_int_equal(w->output_count, 1);
    assert_ptr_equal(w->outputs[0].type, &pawl__type_object);
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_ERROR, "/outputs/0", "'No.Such'"));
    loading_release(&l);
}

static void says_where_and_what_when_it_cannot_load(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"[]", "expected a workflow definition, an object, found an array"},
        {"{\"root\":[]}", "/root: expected an activity object, found an array"},
        {"{\"root\":{}}", "/root: an activity needs a \"type\", such as \"Elsa.WriteLine\""},
        {"{\"root\":{\"type\":5}}", "/root/type: expected a string, found a number"},
        {"{\"root\":{\"type\":\"Elsa.Sequence\",\"activities\":{}}}",
         "/root/activities: expected an array of activities, found an object"},
        {SEQUENCE(WRITE() ",\"x\""),
         "/root/activities/1: expected an activity object, found a string"},
        {SEQUENCE(WRITE(",\"id\":true")),
         "/root/activities/0/id: expected a string, found a boolean"},
        {SEQUENCE("{\"type\":\"Elsa.Event\",\"result\":5}"),
         "/root/activities/0/result: expected an output object, found a number"},
        {SEQUENCE(WRITE(",\"text\":{\"typeName\":\"String\",\"expression\":\"x\"}")),
         "/root/activities/0/text/expression: expected an expression object, found a string"},
        {"{\"variables\":{}}", "/variables: expected an array of variables, found an object"},
        {"{\"variables\":[5]}", "/variables/0: expected a variable object, found a number"},
        {"{\"inputs\":[5]}", "/inputs/0: expected an object with name and type, found a number"},
        {"{\"outputs\":5}", "/outputs: expected an array, found a number"},
        {"{\"options\":[]}", "/options: expected an object, found an array"},
        {"{\"name\":5}", "/name: expected a string, found a number"},
    };
    struct loading l;

    (void)state;
    loading_init(&l);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_code(loading_try(&l, loading_parse(&l, pawl__str(cases[i].text))), PAWL_EPARSE);
        assert_string_equal(l.err.msg, cases[i].message);
        assert_null(l.graph);
    }
    loading_release(&l);
}

/* ---- flowcharts and sequences ------------------------------------------------------------ */

#define LINK(from, to)                                                                             \
    "{\"source\":{\"activity\":\"" from "\",\"port\":\"Done\"},\"target\":{\"activity\":\"" to     \
    "\",\"port\":\"In\"}}"

static void warns_of_activities_that_never_run(void **state)
{
    struct loading l;

    (void)state;
    loading_init(&l);
    loading_load(
        &l,
        "{\"root\":{\"type\":\"Elsa.Flowchart\",\"activities\":[" WRITE(",\"id\":\"a\"") "," WRITE(",\"id\":\"b\"") "," WRITE(
            ",\"id\":\"c\"") "," WRITE(",\"id\":\"d\"") "," WRITE(",\"id\":\"e\","
                                                                  "\"canStartWorkflow\":"
                                                                  "true") "],"
                                                                          "\"connections\""
                                                                          ":[" LINK("a", "b") "," LINK("b", "a") "," LINK(
                                                                              "c",
                                                                              "d") "," LINK("e",
                                                                                            "b") "," LINK("a",
                                                                                                          "nowhere") "]}}");
    assert_int_equal(l.problems.count, 2);
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_WARNING, "/root/activities/2", "'c'"));
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_WARNING, "/root/activities/3", "'d'"));
    /* the flat form, and the rule that the first without a connection to it starts */
    loading_load(
        &l,
        "{\"root\":{\"type\":\"Elsa.Flowchart\",\"activities\":[" WRITE(",\"id\":\"a\"") "," WRITE(
            ",\"id\":\"b\"") "],\"connections\":{"
                             "\"$values\":[{\"source\":\"b\",\"target\":\"a\",\"sourcePort\":"
                             "\"Done\"}]}}}");
    assert_int_equal(l.problems.count, 0);
    loading_load(&l, SEQUENCE("{\"id\":\"e\",\"type\":\"Elsa.End\"}," WRITE(",\"id\":\"a\"")));
    assert_true(loading_has_problem(&l, PAWL_PROBLEM_WARNING, "/root/activities/1",
                                    "'e' before it ends the sequence"));
    loading_release(&l);
}

static void counts_problems_past_the_most(void **state)
{
    struct loading l;
    struct pawl_json *definition;

    (void)state;
    loading_init(&l);
    definition = loading_parse(&l, pawl__str(SEQUENCE("{\"type\":\"a\"},{\"type\":\"b\"},"
                                                      "{\"type\":\"c\"}")));
    l.problems = (struct pawl_problems){.arena = &l.arena, .most = 2};
    assert_ok(pawl__graph_load(&l.engine, &l.alloc.base, definition, NULL, NULL, &l.problems,
                               &l.graph, &l.err),
              &l.err);
    assert_int_equal(l.problems.count, 2);
    assert_int_equal(l.problems.dropped, 1);
    loading_release(&l);
}

/* ---- limits ------------------------------------------------------------------------------ */

/* `depth` activities in each other, one level of JSON each. */
static struct pawl_json *nested(struct loading *l, uint32_t depth)
{
    struct pawl_json *definition = pawl__arena_alloc(&l->arena, sizeof *definition);
    struct pawl_json inner = pawl__json_null();

    assert_non_null(definition);
    for (uint32_t i = 0; i < depth; i++) {
        struct pawl_json outer = pawl__json_object();

        assert_code(
            pawl__json_set_text(&l->arena, &outer, "type", pawl__json_string(pawl__str("Elsa.If"))),
            PAWL_OK);
        assert_code(pawl__json_set_text(&l->arena, &outer, "then", inner), PAWL_OK);
        inner = outer;
    }
    *definition = pawl__json_object();
    assert_code(pawl__json_set_text(&l->arena, definition, "root", inner), PAWL_OK);
    return definition;
}

static void loads_what_is_nested_as_deep_as_json_may_be(void **state)
{
    struct loading l;

    (void)state;
    loading_init(&l);
    assert_ok(loading_try(&l, nested(&l, 999)), &l.err);
    assert_int_equal(l.graph->node_count, 1000);
    assert_str(l.graph->nodes[999]->id, "If999");
    assert_code(loading_try(&l, nested(&l, 1000)), PAWL_ELIMIT);
    assert_non_null(strstr(l.err.msg, "more than 1000 levels of JSON"));
    l.limits.depth_max = 998;
    assert_code(loading_try(&l, nested(&l, 999)), PAWL_ELIMIT);
    assert_non_null(strstr(l.err.msg, "nested deeper than 998 levels"));
    assert_ok(loading_try(&l, nested(&l, 998)), &l.err);
    loading_release(&l);
}

static struct pawl_json *wide(struct loading *l, uint32_t count)
{
    struct pawl_buf text;
    struct pawl_json *json;

    pawl__buf_init(&text, &l->alloc.base, (size_t)1 << 28);
    pawl__buf_text(&text, "{\"root\":{\"type\":\"Elsa.Flowchart\",\"activities\":[");
    for (uint32_t i = 0; i < count; i++)
        pawl__buf_printf(
            &text,
            "%s{\"type\":\"Elsa.WriteLine\",%s\"text\":" WRAPPED("\"Literal\"", "\"hello\"") "}",
            i ? "," : "", i % 2 ? "" : "\"name\":\"n\",");
    pawl__buf_text(&text, "],\"connections\":[");
    for (uint32_t i = 1; i < count; i++)
        pawl__buf_printf(&text,
                         "%s{\"source\":{\"activity\":\"WriteLine%u\"},\"target\":{"
                         "\"activity\":\"WriteLine%u\"}}",
                         i > 1 ? "," : "", i, i + 1);
    pawl__buf_text(&text, "]}}");
    json = loading_parse(l, pawl__buf_peek(&text));
    pawl__buf_release(&text);
    return json;
}

static void loads_ten_thousand_activities(void **state)
{
    struct loading l;

    (void)state;
    loading_init(&l);
    assert_ok(loading_try(&l, wide(&l, 10000)), &l.err);
    assert_int_equal(l.graph->node_count, 10002);
    assert_str(l.graph->nodes[10001]->node_id, "Workflow1:Flowchart1:WriteLine10000");
    assert_int_equal(l.problems.count, 0);
    l.limits.nodes_max = 10001;
    assert_code(loading_try(&l, wide(&l, 10000)), PAWL_ELIMIT);
    assert_non_null(strstr(l.err.msg, "more than 10001 activities"));
    l.limits = pawl__graph_limits_default;
    l.limits.bytes_max = 1 << 20;
    assert_code(loading_try(&l, wide(&l, 10000)), PAWL_ELIMIT);
    assert_string_equal(l.err.msg, "the definition needs more than 1 MB once loaded; split it into "
                                   "several");
    loading_release(&l);
}

static void refuses_workflows_within_workflows_past_the_limits(void **state)
{
    struct loading l;

    (void)state;
    loading_init(&l);
    for (int i = 1; i <= 40; i++) {
        char text[256];

        /* Each embeds the next twice: without a limit 2^40 nodes. */
        (void)snprintf(text, sizeof text,
                       "{\"id\":\"w%d\",\"name\":\"W%d\",\"usableAsActivity\":true,\"root\":{"
                       "\"type\":\"Elsa.If\",\"then\":{\"type\":\"W%d\"},\"else\":{\"type\":"
                       "\"W%d\"}}}",
                       i, i, i + 1, i + 1);
        loading_offer(&l, text);
    }
    assert_code(loading_try(&l, loading_parse(&l, pawl__str("{\"root\":{\"type\":\"W1\"}}"))),
                PAWL_ELIMIT);
    assert_non_null(strstr(l.err.msg, "more than 32 levels deep"));
    l.limits.embed_max = 100;
    assert_code(loading_try(&l, loading_parse(&l, pawl__str("{\"root\":{\"type\":\"W1\"}}"))),
                PAWL_ELIMIT);
    assert_non_null(strstr(l.err.msg, "more than 100000 activities"));
    loading_release(&l);
}

static void refuses_more_variables_than_a_scope_may_have(void **state)
{
    static const char *const wanted[] = {
        "/variables: 2001 variables in one scope, at most 2000 are allowed",
        "/inputs: 2001 inputs, at most 2000 are allowed",
        "/root/variables: 2001 variables in one scope, at most 2000 are allowed",
    };
    static const char *const heads[] = {"{\"root\":{\"type\":\"Elsa.Sequence\"},\"variables\":[",
                                        "{\"root\":{\"type\":\"Elsa.Sequence\"},\"inputs\":[",
                                        "{\"root\":{\"type\":\"Elsa.Sequence\",\"variables\":["};
    static const char *const tails[] = {"]}", "]}", "]}}"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        for (unsigned count = 2000; count <= 2001; count++) {
            struct pawl_buf text;
            struct loading l;

            loading_init(&l);
            pawl__buf_init(&text, &l.alloc.base, (size_t)1 << 20);
            pawl__buf_text(&text, heads[i]);
            for (unsigned n = 0; n < count; n++)
                pawl__buf_printf(&text, "%s{\"id\":\"v%u\",\"name\":\"v%u\",\"type\":\"String\"}",
                                 n > 0 ? "," : "", n, n);
            pawl__buf_text(&text, tails[i]);
            assert_code(loading_try(&l, loading_parse(&l, pawl__buf_peek(&text))),
                        count > 2000 ? PAWL_EPARSE : PAWL_OK);
            if (count > 2000)
                assert_non_null(strstr(l.err.msg, wanted[i]));
            pawl__buf_release(&text);
            loading_release(&l);
        }
    }
}

/* ---- memory ------------------------------------------------------------------------------ */

static int load_everything(struct test_allocator *alloc, void *arg)
{
    static const char text[] =
        "{\"id\":\"d\",\"name\":\"D\",\"inputs\":[{\"name\":\"I\"}],\"variables\":[{\"name\":\"V\","
        "\"typeName\":\"Int32\",\"value\":\"x\"}],\"root\":{\"type\":\"Elsa.Flowchart\","
        "\"variables\":[{}],\"activities\":[{\"type\":\"Elsa.Switch\",\"cases\":[{\"label\":\"L\","
        "\"condition\":{\"type\":\"Nope\"},\"activity\":" WRITE(
            ",\"text\":[1]") "}],"
                             "\"default\":" WRITE() "},{\"type\":\"Elsa.Missing\"},{\"id\":\"k\","
                                                    "\"type\":\"C\",\"i\":"
                                                    "5},{\"type\":\"C\"},{\"id\":\"j\",\"type\":"
                                                    "\"Elsa.FlowJoin\",\"mode\":\"waitall\"}],"
                                                    "\"connections\":[" LINK("j", "k") "]}}";
    static const char child[] =
        "{\"id\":\"c\",\"name\":\"C\",\"usableAsActivity\":true,\"inputs\":[{\"name\":\"I\"}],"
        "\"outputs\":[{\"name\":\"Id\"}],\"outcomes\":[\"A\"],\"root\":{\"type\":\"Elsa.None\"}}";
    struct pawl_engine engine;
    struct pawl_arena arena;
    struct pawl_catalog catalog;
    struct pawl_problems problems = {.arena = &arena, .most = 100};
    struct pawl_json json, child_json;
    struct pawl_graph *graph = NULL;
    struct pawl_error err;
    struct pawl_json_limits limits = {.bytes_max = 1 << 20, .depth_max = 100};
    int status;

    (void)arg;
    pawl__arena_init(&arena, &alloc->base, 1 << 24);
    pawl__catalog_init(&catalog, &arena);
    status = vocabulary_init(&engine, &alloc->base);
    if (status == PAWL_OK)
        status = pawl__json_parse(&arena, pawl__str(text), &limits, &json, NULL, &err);
    if (status == PAWL_OK)
        status = pawl__json_parse(&arena, pawl__str(child), &limits, &child_json, NULL, &err);
    if (status == PAWL_OK)
        status = pawl__catalog_add(&catalog, &child_json);
    if (status == PAWL_OK)
        status = pawl__graph_load(&engine, &alloc->base, &json, &catalog.resolver, NULL, &problems,
                                  &graph, &err);
    if (status == PAWL_OK)
        assert_int_equal(graph->node_count, 13);
    pawl__graph_unref(graph);
    pawl__engine_release(&engine);
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(load_everything, NULL, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_ids_and_makes_the_missing_ones_in_pre_order),
        cmocka_unit_test(children_of_own_places_come_before_those_of_declared_ports),
        cmocka_unit_test(refuses_two_siblings_of_one_id),
        cmocka_unit_test(embeds_workflows_with_the_ids_they_have_alone),
        cmocka_unit_test(finds_embedded_versions_as_the_reference_does),
        cmocka_unit_test(refuses_a_workflow_that_contains_itself),
        cmocka_unit_test(tells_problems_of_an_embedded_workflow_once_where_it_is_embedded),
        cmocka_unit_test(an_unknown_type_becomes_a_placeholder_of_version_0),
        cmocka_unit_test(a_saved_placeholder_comes_back_when_its_type_is_known),
        cmocka_unit_test(reads_literals_as_the_reference_does),
        cmocka_unit_test(drops_inputs_it_cannot_read_and_says_so),
        cmocka_unit_test(gives_defaults_and_naked_values_and_demands_what_is_required),
        cmocka_unit_test(warns_of_enum_names_that_fault_or_do_not_count),
        cmocka_unit_test(warns_of_outputs_bound_to_nothing),
        cmocka_unit_test(reads_flags_in_all_their_places),
        cmocka_unit_test(strips_type_marks_and_unwraps_lists),
        cmocka_unit_test(reads_workflow_variables),
        cmocka_unit_test(names_container_variables_that_have_no_name_or_id),
        cmocka_unit_test(reads_the_head_and_the_options),
        cmocka_unit_test(says_where_and_what_when_it_cannot_load),
        cmocka_unit_test(warns_of_activities_that_never_run),
        cmocka_unit_test(counts_problems_past_the_most),
        cmocka_unit_test(loads_what_is_nested_as_deep_as_json_may_be),
        cmocka_unit_test(loads_ten_thousand_activities),
        cmocka_unit_test(refuses_workflows_within_workflows_past_the_limits),
        cmocka_unit_test(refuses_more_variables_than_a_scope_may_have),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("engine/loader", tests, NULL, NULL);
}
