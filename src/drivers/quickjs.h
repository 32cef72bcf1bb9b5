/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QuickJS-NG, translated from WebAssembly to C by the build: a script engine whose memory is one
 * block of ours and whose only ways out are the functions given here. No file, no clock, no
 * randomness of its own; an error in the engine stays inside its block.
 *
 * An engine is used by one thread at a time. Its whole state is bytes: an image taken of it can be
 * put into it, or into another engine, at any time, at the cost of copying them (about 1.5 MB).
 *
 * Everything that enters the engine happens inside pawl__quickjs_enter(), which bounds it: by fuel
 * (work counted inside the translated code, loop turn by loop turn, also of built-in functions; it
 * depends on the script alone), by processor time of the thread, by memory and by stack. The host
 * can stop it at any time. A limit that is hit leaves the engine at once, whatever it is doing: the
 * frames of C functions in between are gone without a return, so that a function which calls the
 * engine holds nothing that only its end would release (memory is the arena's or the owner's).
 * Afterwards put an image into the engine before using it again. pawl__js_… functions below are
 * called only inside, from the function entered or from a host function.
 */
#ifndef PAWL_DRIVERS_QUICKJS_H
#define PAWL_DRIVERS_QUICKJS_H

#include "base/arena.h"
#include "base/str.h"

#include <pawl/error.h>
#include <pawl/ext/env.h>

struct pawl_quickjs;
struct pawl_quickjs_image;

/* A value of the script. Its owner frees it, unless it is borrowed. */
struct pawl_js {
    uint64_t bits;
};

enum pawl_js_kind {
    PAWL_JS_UNDEFINED,
    PAWL_JS_NULL,
    PAWL_JS_BOOL,
    PAWL_JS_NUMBER,
    PAWL_JS_STRING,
    PAWL_JS_OBJECT,    /* arrays and functions too */
    PAWL_JS_OTHER,     /* symbol, bigint */
    PAWL_JS_EXCEPTION, /* not a value: something was thrown, see pawl__js_caught() */
};

/* How a stay in the engine ended. */
enum pawl_quickjs_end {
    PAWL_QUICKJS_DONE,
    PAWL_QUICKJS_FUEL,
    PAWL_QUICKJS_TIME,
    PAWL_QUICKJS_STOPPED, /* by the host's `stop` */
    PAWL_QUICKJS_ABORTED, /* pawl__js_abort() */
    PAWL_QUICKJS_TRAPPED, /* the engine itself failed; the message says how */
};

struct pawl_quickjs_limits {
    uint32_t fuel;         /* each PAWL_QUICKJS_WORK_PER_FUEL units of work */
    int64_t time_ns;       /* of the thread's processor time; 0: none */
    uint32_t memory_bytes; /* of the script's objects; at most PAWL_QUICKJS_MEMORY_MAX */
    uint32_t stack_bytes;  /* of the engine's own stack, see PAWL_QUICKJS_STACK_DEFAULT */
};

/* A unit is a turn of a loop in the engine's own code: 1 to 13 ns. */
#define PAWL_QUICKJS_WORK_PER_FUEL 30000
#define PAWL_QUICKJS_MEMORY_MAX (96u << 20)
/* An engine is small up to here. */
#define PAWL_QUICKJS_SMALL (8u << 20)
/*
 * The engine counts the stack that it manages itself. For each byte of it up to about 11 bytes of
 * the thread's stack are used: 192 KB of it need 2.2 MB of a thread.
 */
#define PAWL_QUICKJS_STACK_DEFAULT (192u << 10)

/* What a stay in the engine may use. */
struct pawl_quickjs_host {
    /*
     * Host function `number` was called with `args` (borrowed). Returns its result, which the
     * engine takes; pawl__js_throw() throws. NULL when no host functions exist.
     */
    struct pawl_js (*call)(void *ctx, struct pawl_quickjs *js, uint32_t number,
                           const struct pawl_js *args, uint32_t count);
    /* The thread's processor time, for the time limit; NULL: no time limit. */
    int64_t (*processor_ns)(void *ctx);
    /* Asked every 100,000 units of work, after the first ten million: true ends the stay as
     * STOPPED. NULL: never. */
    bool (*stop)(void *ctx);
    /*
     * Asked when the engine's memory is to grow past PAWL_QUICKJS_SMALL, each time; it may wait.
     * false ends the stay as STOPPED. NULL: it may grow.
     */
    bool (*grow)(void *ctx);
    int64_t now_unix_ns; /* what Date returns; it does not advance */
    void *ctx;
};

/* An engine as it is when new. PAWL_ENOMEM, PAWL_EINTERNAL. Borrows the allocator for its life. */
PAWL_MUST_CHECK int pawl__quickjs_open(const struct pawl_allocator *alloc,
                                       struct pawl_quickjs **out, struct pawl_error *err);
void pawl__quickjs_close(struct pawl_quickjs *js); /* NULL allowed */

/* Copies its memory. Outside of a stay only. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__quickjs_image_take(const struct pawl_quickjs *js,
                                             const struct pawl_allocator *alloc,
                                             struct pawl_quickjs_image **out);
void pawl__quickjs_image_free(struct pawl_quickjs_image *image); /* NULL allowed */
/*
 * Makes the engine what it was when the image was taken: values held then are valid again, all
 * others are not. Memory beyond that of the image is freed if it is large.
 * PAWL_ENOMEM: the engine can then only be closed.
 */
PAWL_MUST_CHECK int pawl__quickjs_restore(struct pawl_quickjs *js,
                                          const struct pawl_quickjs_image *image);
/* Bytes of memory that the engine has taken so far. */
size_t pawl__quickjs_memory_bytes(const struct pawl_quickjs *js);

/* Calls run(js, arg) inside the engine, within the limits. */
enum pawl_quickjs_end pawl__quickjs_enter(struct pawl_quickjs *js,
                                          const struct pawl_quickjs_host *host,
                                          const struct pawl_quickjs_limits *limits,
                                          void (*run)(struct pawl_quickjs *js, void *arg),
                                          void *arg);
/* After PAWL_QUICKJS_TRAPPED: what happened. */
const char *pawl__quickjs_trap_text(const struct pawl_quickjs *js);

/* ---- inside: running --------------------------------------------------------------------- */

/* Counts work that a host function does by itself: `bytes` that it reads or writes. */
void pawl__js_work(struct pawl_quickjs *js, size_t bytes);

/* Runs a script in the global scope; its completion value, or EXCEPTION. */
struct pawl_js pawl__js_evaluate(struct pawl_quickjs *js, struct pawl_str source, const char *name);
/* Whether the text is a script; nothing runs. EXCEPTION or undefined. */
struct pawl_js pawl__js_check(struct pawl_quickjs *js, struct pawl_str source, const char *name);

#define PAWL_JS_ARGS_MAX 40
/* Calls a function with borrowed arguments; `this` is undefined. */
struct pawl_js pawl__js_call(struct pawl_quickjs *js, struct pawl_js function,
                             const struct pawl_js *args, uint32_t count);

#define PAWL_JS_NEVER_SETTLED "The script's promise can never be settled."
/*
 * Runs what promises have queued until nothing is left, then, when `value` (taken) is a promise,
 * returns what it was fulfilled with. EXCEPTION when it was rejected, or can never be settled.
 */
struct pawl_js pawl__js_settle(struct pawl_quickjs *js, struct pawl_js value);

/* Whether promises have queued something that has not run: it would run in a later stay. */
bool pawl__js_has_jobs(struct pawl_quickjs *js);

/* The value that was thrown. The engine has then forgotten it. */
struct pawl_js pawl__js_caught(struct pawl_quickjs *js);
/* Throws an Error; returns EXCEPTION. */
struct pawl_js pawl__js_throw(struct pawl_quickjs *js, const char *message);
/* The stay ends as ABORTED as soon as the engine asks; returns EXCEPTION. */
struct pawl_js pawl__js_abort(struct pawl_quickjs *js);

/* ---- inside: values ---------------------------------------------------------------------- */

enum pawl_js_kind pawl__js_kind(struct pawl_js value);
bool pawl__js_is_array(struct pawl_quickjs *js, struct pawl_js value);
bool pawl__js_is_promise(struct pawl_quickjs *js, struct pawl_js value);
bool pawl__js_is_function(struct pawl_quickjs *js, struct pawl_js value);
bool pawl__js_to_bool(struct pawl_js value);     /* BOOL only */
double pawl__js_to_double(struct pawl_js value); /* NUMBER only */
/* The same object, the same small value. */
static inline bool pawl__js_same(struct pawl_js a, struct pawl_js b)
{
    return a.bits == b.bits;
}

/* For a function that found that something was thrown. */
struct pawl_js pawl__js_exception(void);
struct pawl_js pawl__js_undefined(void);
struct pawl_js pawl__js_null(void);
struct pawl_js pawl__js_bool(bool value);
struct pawl_js pawl__js_number(double value);
/* These return EXCEPTION when memory is short. */
struct pawl_js pawl__js_string(struct pawl_quickjs *js, struct pawl_str text);
struct pawl_js pawl__js_parse(struct pawl_quickjs *js, struct pawl_str json);
/* As above; each object in it inherits from `prototype`, an object, which is borrowed. */
struct pawl_js pawl__js_parse_as(struct pawl_quickjs *js, struct pawl_str json,
                                 struct pawl_js prototype);
struct pawl_js pawl__js_object(struct pawl_quickjs *js);
struct pawl_js pawl__js_bytes(struct pawl_quickjs *js, struct pawl_str bytes); /* ArrayBuffer */
/* A host function, frozen. `number` is at most 32,767. */
struct pawl_js pawl__js_function(struct pawl_quickjs *js, const char *name, uint32_t number);

void pawl__js_free(struct pawl_quickjs *js, struct pawl_js value);
struct pawl_js pawl__js_share(struct pawl_js value, struct pawl_quickjs *js);

/* A property; undefined when there is none. May run the script's code. */
struct pawl_js pawl__js_get(struct pawl_quickjs *js, struct pawl_js object, const char *name);
struct pawl_js pawl__js_at(struct pawl_quickjs *js, struct pawl_js object, struct pawl_str name);
/* Sets a property, taking the value. false: it threw. */
bool pawl__js_set(struct pawl_quickjs *js, struct pawl_js object, const char *name,
                  struct pawl_js value);
/* Makes a property, or makes it anew, taking the value. false: it threw. */
#define PAWL_JS_CONFIGURABLE 1u
#define PAWL_JS_WRITABLE 2u
#define PAWL_JS_ENUMERABLE 4u
bool pawl__js_define(struct pawl_quickjs *js, struct pawl_js object, struct pawl_str name,
                     struct pawl_js value, uint32_t flags);
/* Whether the object or what it inherits from has this property. */
bool pawl__js_has(struct pawl_quickjs *js, struct pawl_js object, struct pawl_str name);
/* Makes the object inherit from `prototype`, which is borrowed. false: it threw. */
bool pawl__js_set_prototype(struct pawl_quickjs *js, struct pawl_js object,
                            struct pawl_js prototype);
void pawl__js_freeze(struct pawl_quickjs *js, struct pawl_js object);

/* ---- inside: what objects are made of (any of these may run a script's code) -------------- */

/* null: none. */
struct pawl_js pawl__js_prototype(struct pawl_quickjs *js, struct pawl_js object);
/* Of an array. false: it threw. */
bool pawl__js_length(struct pawl_quickjs *js, struct pawl_js array, int64_t *out);
struct pawl_js pawl__js_item(struct pawl_quickjs *js, struct pawl_js array, uint32_t index);

/* The enumerable own keys that are texts, in order. */
struct pawl_js_keys {
    uint32_t table;
    uint32_t count;
};
/* false: it threw. */
bool pawl__js_keys(struct pawl_quickjs *js, struct pawl_js object, struct pawl_js_keys *out);
void pawl__js_keys_free(struct pawl_quickjs *js, struct pawl_js_keys keys);
struct pawl_js pawl__js_member(struct pawl_quickjs *js, struct pawl_js object,
                               struct pawl_js_keys keys, uint32_t index);
/* As pawl__js_text(). */
bool pawl__js_key_text(struct pawl_quickjs *js, struct pawl_js_keys keys, uint32_t index,
                       struct pawl_arena *arena, struct pawl_str *out);

/* ---- inside: the whole engine ------------------------------------------------------------- */

/* Collects what is no longer reachable. */
void pawl__js_collect(struct pawl_quickjs *js);
struct pawl_js pawl__js_global(struct pawl_quickjs *js);
/* How many properties the global object has itself. */
uint32_t pawl__js_global_own(struct pawl_quickjs *js);
/* How many names `let`, `const` and `class` of scripts have declared in the global scope. */
uint32_t pawl__js_lexical_own(struct pawl_quickjs *js);
/*
 * Whether the global object is as new: extensible, with this prototype, and with no property of its
 * own besides the `own` it had at first. Those that came later are deleted where that is possible.
 */
bool pawl__js_global_is_clean(struct pawl_quickjs *js, struct pawl_js prototype, uint32_t own);

/*
 * Its text as UTF-8 (what is no character becomes U+FFFD), in the arena, NUL-terminated. false: it
 * threw, or the arena is full (its status says so). May run the script's code for objects.
 */
bool pawl__js_text(struct pawl_quickjs *js, struct pawl_js value, struct pawl_arena *arena,
                   struct pawl_str *out);
/*
 * The bytes of an ArrayBuffer, a Uint8Array or a Uint8ClampedArray, borrowed until the engine runs.
 * false: it is of no such type.
 */
bool pawl__js_peek_bytes(struct pawl_quickjs *js, struct pawl_js value, struct pawl_str *out);

#endif
