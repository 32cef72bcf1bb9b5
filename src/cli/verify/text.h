/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of `pawl verify-cluster` as text: ' stands for ", @ for the prefix. */
#ifndef PAWL_CLI_VERIFY_TEXT_H
#define PAWL_CLI_VERIFY_TEXT_H

#define VERIFY_INPUT(type, value)                                                                  \
    "{'typeName':'" type "','expression':{'type':'Literal','value':" value "}}"
#define VERIFY_VALUE(id, value)                                                                    \
    "{'id':'" id "','type':'Elsa.SetVariable','variable':{'id':'v','name':'V','typeName':"         \
    "'String'},'value':" VERIFY_INPUT("Object", "'" value "'") "}"
/* What is counted. */
#define VERIFY_BODY VERIFY_VALUE("body", "done")
#define VERIFY_MORE VERIFY_VALUE("more", "more")
#define VERIFY_EVENT(id, name)                                                                     \
    "{'id':'" id "','type':'Elsa.Event','eventName':" VERIFY_INPUT("String", "'" name "'") "}"
#define VERIFY_SLEEP_US INT64_C(1000000)
#define VERIFY_SLEEP(id)                                                                           \
    "{'id':'" id "','type':'Elsa.Delay','timeSpan':" VERIFY_INPUT("TimeSpan", "'00:00:01'") "}"
#define VERIFY_CHILD(id, definition)                                                               \
    "{'id':'" id "','type':'Elsa.ExecuteWorkflow','waitForCompletion':" VERIFY_INPUT(              \
        "Boolean", "true") ",'workflowDefinitionId':" VERIFY_INPUT("String",                       \
                                                                   "'" definition "'") "}"
#define VERIFY_TIMES(id, count, body)                                                              \
    "{'id':'" id "','type':'Elsa.For','start':" VERIFY_INPUT("Int32", "1") ",'end':" VERIFY_INPUT( \
        "Int32", count) ",'outerBoundInclusive':" VERIFY_INPUT("Boolean", "true") ",'body':" body  \
                                                                                  "}"
/* Every activity is committed before the next one begins. */
#define VERIFY_STEPS "'options':{'commitStrategyName':'ActivityExecuted'},"
#define VERIFY_DEFINITION(id, more, activities)                                                    \
    "{'definitionId':'@-" id "','name':'@-" id "'," more                                           \
    "'variables':[{'id':'v','name':'V','typeName':'String','storageDriverTypeName':"               \
    "'WorkflowInstanceStorageDriver'}],'root':{'id':'root','type':'Elsa.Sequence','activities':"   \
    "[" activities "]}}"

#endif
