/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the JavaScript language share:
 *
 *     javascript.c           the language: options, pool, registration, one evaluation from
 *                            outside
 *     realm.c                an engine made ready for scripts, and the functions it compiled
 *     run.c                  one evaluation from inside the engine
 *     host.c                 the functions that scripts call
 *     accessor.c             getX, setX, getXFromY: which of them exist in a scope
 *     value.c                values in and out
 *     object.c               arrays and objects out, member by member
 *     source.c               what the text tells
 *     boot.js                what scripts find when they start
 */
#ifndef PAWL_EXPRESSIONS_JAVASCRIPT_PRIVATE_H
#define PAWL_EXPRESSIONS_JAVASCRIPT_PRIVATE_H

#include "base/map.h"
#include "drivers/quickjs.h"
#include "engine/context.h"
#include "engine/engine.h"
#include "expressions/javascript/javascript.h"
#include "expressions/javascript/source.h"

#define JAVASCRIPT_FUNCTIONS_MAX 64u
/* Number of the first host function that is an accessor; those below are of the tables. */
#define JAVASCRIPT_ACCESSOR_FIRST 256u
#define JAVASCRIPT_ACCESSORS_MAX 16384u

/* Values that boot made: the same numbers in every engine, as they are part of the images. */
struct pawl_javascript_roots {
    struct pawl_js pack;
    struct pawl_js nested;
    struct pawl_js wrap;
    struct pawl_js copied;
    struct pawl_js names;
    struct pawl_js describe;
    /* What objects of the host inherit from. */
    struct pawl_js plain; /* the script's own */
    struct pawl_js expando;
    struct pawl_js dictionary;
    struct pawl_js string_dictionary;
    struct pawl_js json_object;
    struct pawl_js json_array;
    struct pawl_js shared; /* the global object's prototype in a sealed realm */
    uint32_t global_own;   /* properties that the global object of a sealed realm keeps */
    uint32_t lexical_own;  /* the same of names declared with let, const and class */
};

enum pawl_javascript_mode {
    PAWL_JAVASCRIPT_EXPRESSION,
    PAWL_JAVASCRIPT_BODY,      /* it has a return: the body of a function */
    PAWL_JAVASCRIPT_STATEMENTS /* its value is that of its last statement */
};

/* A text that was looked at, in one realm. */
struct pawl_javascript_script {
    struct pawl_str text;
    struct pawl_javascript_source source;
    enum pawl_javascript_mode mode;
    bool needs_own_engine;
    struct pawl_str syntax_error; /* ptr NULL: none */
    const char *limit; /* what the parser ran into, perhaps for what ran before; NULL: nothing */
    /* Compiled for a set of accessors that exist, one bit each, which are its first arguments. */
    uint32_t bound;
    uint32_t bound_count;
    struct pawl_js *bound_functions; /* borrowed from the realm */
    struct pawl_js function;         /* undefined: not yet */
};

/* An engine for scripts. In the pool, or used by one thread. */
struct pawl_javascript_realm {
    struct pawl_javascript_realm *next; /* in the pool */
    struct pawl_javascript *owner;
    struct pawl_quickjs *engine;
    bool sealed;
    bool is_large;  /* its memory may pass PAWL_QUICKJS_SMALL: one of js->large_count */
    bool spoilt;    /* must be restored before it is used */
    bool evaluated; /* text was run in the global scope, which may have declared names there */
    struct pawl_arena arena;
    struct pawl_map scripts;   /* text -> struct pawl_javascript_script */
    struct pawl_map accessors; /* name -> struct accessor_function */
    struct pawl_str *accessor_names;
    uint32_t accessor_count;
    uint32_t accessor_cap;
    /* Texts on their way into the engine, which may be left in the middle of any call. */
    struct pawl_buf text;
};

struct pawl_javascript {
    struct pawl_expression_ops ops; /* what the engine has; first, so that it leads back here */
    struct pawl_env *env;
    struct pawl_javascript_options options;
    struct pawl_javascript_function functions[JAVASCRIPT_FUNCTIONS_MAX];
    uint32_t function_count;
    struct pawl_hash_seed seed;

    struct pawl_mutex *mutex; /* guards all below */
    struct pawl_javascript_realm *idle_sealed;
    struct pawl_javascript_realm *idle_plain;
    uint32_t large_count;
    struct pawl_cond *large_changed; /* there are fewer */
    /* Made before the first script, then constant. */
    struct pawl_quickjs_image *plain;
    struct pawl_quickjs_image *sealed;
    struct pawl_javascript_roots roots;
};

/* A variable that the script has set; written to the workflow when the script has ended. */
struct pawl_javascript_change {
    struct pawl_str name;
    struct pawl_value value;
    struct pawl_javascript_change *next;
};

/* A value in `variables` that is the workflow's own as long as the script leaves it there. */
struct pawl_javascript_shown {
    struct pawl_str name;
    struct pawl_js value; /* borrowed from `variables`; only compared */
    struct pawl_javascript_shown *next;
};

/* One evaluation. */
struct pawl_javascript_evaluation {
    struct pawl_javascript *js;
    struct pawl_javascript_realm *realm;
    struct pawl_context *context;
    struct pawl_arena *arena;
    struct pawl_javascript_run *run;
    const struct pawl_javascript_script *script;
    struct pawl_js variables; /* undefined: the script does not mention them */
    struct pawl_javascript_shown *shown;
    struct pawl_javascript_change *changes;
    uint64_t random;
    bool random_ready;
    uint32_t outcome_cap;
    int status; /* PAWL_OK, ENGINE_RAISED or a negative code: why it ended */
};

/* javascript.c */
/*
 * The memory of a realm in use is to pass PAWL_QUICKJS_SMALL: waits for its turn. false: the burst
 * must stop, or the environment has. `context` NULL: no burst.
 */
bool pawl__javascript_grow(struct pawl_javascript_realm *realm, struct pawl_context *context);

/* realm.c */
PAWL_MUST_CHECK int pawl__javascript_boot(struct pawl_javascript *js, struct pawl_error *err);
PAWL_MUST_CHECK int pawl__javascript_realm_new(struct pawl_javascript *js, bool sealed,
                                               struct pawl_javascript_realm **out,
                                               struct pawl_error *err);
void pawl__javascript_realm_free(struct pawl_javascript_realm *realm); /* NULL allowed */
PAWL_MUST_CHECK int pawl__javascript_realm_restore(struct pawl_javascript_realm *realm);
/* Empty; its bytes are used before the next call of this function. */
struct pawl_buf *pawl__javascript_text(struct pawl_javascript_realm *realm);
/* After a stay: whether the realm can be used as it is, or must begin again before its next use. */
void pawl__javascript_realm_leave(struct pawl_javascript_realm *realm, bool is_clean);
/* Inside a sealed realm: nothing that ran has left anything that a later script could notice. */
bool pawl__javascript_realm_is_clean(struct pawl_javascript_realm *realm);
/* Inside: the script for a text, looked at now or before. NULL: no memory. */
struct pawl_javascript_script *pawl__javascript_script(struct pawl_javascript_realm *realm,
                                                       struct pawl_str text);
/* Inside: the accessor function of that name, borrowed. EXCEPTION: it threw. */
struct pawl_js pawl__javascript_accessor_function(struct pawl_javascript_realm *realm,
                                                  struct pawl_str name);
/*
 * Inside: compiles for these accessors (bits of script->source.accessors); they are arguments, so
 * that what a script assigns to them ends with its call. false: it threw.
 */
bool pawl__javascript_bind(struct pawl_javascript_realm *realm,
                           struct pawl_javascript_script *script, uint32_t bound);

/* run.c */
PAWL_MUST_CHECK int pawl__javascript_evaluate(struct pawl_javascript_evaluation *e,
                                              bool *needs_own_engine);

/* host.c */
/* The fixed functions of the host by number; NULL at the end. */
const char *pawl__javascript_native_name(uint32_t number);
/* The number of a function that the host added. */
uint32_t pawl__javascript_added_number(uint32_t index);
struct pawl_js pawl__javascript_host_call(void *ctx, struct pawl_quickjs *js, uint32_t number,
                                          const struct pawl_js *args, uint32_t count);
/* Ends the evaluation with this status; returns EXCEPTION. */
struct pawl_js pawl__javascript_fail(struct pawl_javascript_evaluation *e, int status);
/* Remembers that the script has set a variable. false: e->status says why. */
bool pawl__javascript_change(struct pawl_javascript_evaluation *e, struct pawl_str name,
                             struct pawl_value value);
/* Puts a value of the workflow into the object `variables`. false: it threw. */
bool pawl__javascript_show_variable(struct pawl_javascript_evaluation *e, struct pawl_str name,
                                    struct pawl_value value);
/* An input of the workflow as getInput() returns it. */
struct pawl_js pawl__javascript_input(struct pawl_javascript_evaluation *e, struct pawl_str name);
/* The value of a variable as the script sees it now. */
bool pawl__javascript_variable(struct pawl_javascript_evaluation *e, struct pawl_str name,
                               struct pawl_value *out);

/* accessor.c */
enum pawl_javascript_accessor_kind {
    PAWL_JAVASCRIPT_NO_ACCESSOR,
    PAWL_JAVASCRIPT_GET_VARIABLE,
    PAWL_JAVASCRIPT_SET_VARIABLE,
    PAWL_JAVASCRIPT_GET_INPUT,
    PAWL_JAVASCRIPT_GET_OUTPUT,
    PAWL_JAVASCRIPT_GET_ARGUMENT,
};

struct pawl_javascript_accessor {
    enum pawl_javascript_accessor_kind kind;
    struct pawl_str name;         /* of the variable, input or output */
    const struct pawl_node *node; /* GET_OUTPUT */
};

struct pawl_javascript_accessor
pawl__javascript_accessor(const struct pawl_javascript_evaluation *e, struct pawl_str name);
/* Calls `found` with the name of each accessor that exists in the scope. */
PAWL_MUST_CHECK int pawl__javascript_accessors_visit(const struct pawl_javascript_evaluation *e,
                                                     int (*found)(void *ctx, struct pawl_str name),
                                                     void *ctx);

/* value.c */
/* `native`: as the script's own objects, not as those of the host. EXCEPTION: see e->status. */
struct pawl_js pawl__javascript_to_js(struct pawl_javascript_evaluation *e, struct pawl_value value,
                                      bool native);
/* Appends the JSON of a value as a script reads it. false: it threw, or e->status says why. */
bool pawl__javascript_write(struct pawl_javascript_evaluation *e, struct pawl_value value,
                            struct pawl_buf *text);
/* Below it .NET writes a double with an exponent, a script only below a millionth. */
#define NET_PLAIN_MIN 1e-4

/* Numbers of scripts are doubles: spells those in there as .NET writes doubles. */
PAWL_MUST_CHECK int pawl__javascript_net_numbers(struct pawl_javascript_evaluation *e,
                                                 struct pawl_json *json);

/*
 * Parses what a script made of a value; numbers in arrays and objects are spelt as .NET writes
 * them. false: it threw, or e->status says why. `depth` is how deep in a result it stands.
 */
bool pawl__javascript_parse(struct pawl_javascript_evaluation *e, struct pawl_str text,
                            uint32_t depth, struct pawl_json *out);

/* object.c */
enum pawl_javascript_read {
    PAWL_JAVASCRIPT_READ,
    PAWL_JAVASCRIPT_NOT_READ, /* it is of another kind, or too large: pack() knows what to do */
    PAWL_JAVASCRIPT_THREW,    /* or e->status says why */
};
/* Reads an array or an object of a script, in a sealed realm. */
enum pawl_javascript_read pawl__javascript_read_object(struct pawl_javascript_evaluation *e,
                                                       struct pawl_js value,
                                                       struct pawl_value *out);

/* value.c */
/* false: it threw, or e->status says why. Does not take the value. */
bool pawl__javascript_from_js(struct pawl_javascript_evaluation *e, struct pawl_js value,
                              struct pawl_value *out);

#endif
