/* SPDX-License-Identifier: Apache-2.0 */
/* Running: scripts, functions, what promises queue, and what is thrown. */
#include "drivers/quickjs_private.h"

#include "base/assert.h"

#define CONTEXT(js) (&(js)->module), (js)->roots.context

#define EVAL_GLOBAL 0u
#define EVAL_COMPILE_ONLY (1u << 5)

static struct pawl_js make(uint64_t bits)
{
    return (struct pawl_js){.bits = bits};
}

/* The text and the name stay where the engine can see them while the script runs. */
static struct pawl_js evaluate(struct pawl_quickjs *js, struct pawl_str source, const char *name,
                               uint32_t flags)
{
    size_t name_size = strlen(name) + 1;
    struct pawl_js value;
    uint32_t at;

    if (source.len > PAWL_QUICKJS_MEMORY_MAX)
        return make(Z_quickjsZ_JS_ThrowOutOfMemory(CONTEXT(js)));
    at = Z_quickjsZ_wasm_malloc(&js->module, (uint32_t)(source.len + 1 + name_size));
    if (at == 0 || !pawl__quickjs_holds(js, at, (uint32_t)(source.len + 1 + name_size)))
        return make(Z_quickjsZ_JS_ThrowOutOfMemory(CONTEXT(js)));
    if (source.len > 0)
        memcpy(pawl__quickjs_at(js, at), source.ptr, source.len);
    *pawl__quickjs_at(js, at + (uint32_t)source.len) = 0;
    memcpy(pawl__quickjs_at(js, at + (uint32_t)source.len + 1), name, name_size);
    value = make(Z_quickjsZ_JS_Eval(CONTEXT(js), at, (uint32_t)source.len,
                                    at + (uint32_t)source.len + 1, flags));
    Z_quickjsZ_wasm_free(&js->module, at);
    return value;
}

struct pawl_js pawl__js_evaluate(struct pawl_quickjs *js, struct pawl_str source, const char *name)
{
    return evaluate(js, source, name, EVAL_GLOBAL);
}

struct pawl_js pawl__js_check(struct pawl_quickjs *js, struct pawl_str source, const char *name)
{
    struct pawl_js code = evaluate(js, source, name, EVAL_GLOBAL | EVAL_COMPILE_ONLY);

    if (pawl__js_kind(code) == PAWL_JS_EXCEPTION)
        return code;
    pawl__js_free(js, code);
    return pawl__js_undefined();
}

struct pawl_js pawl__js_call(struct pawl_quickjs *js, struct pawl_js function,
                             const struct pawl_js *args, uint32_t count)
{
    uint32_t first = js->args_used;
    uint32_t at = js->roots.args + first * 8;
    struct pawl_js value;

    PAWL_ASSERT(count <= PAWL_JS_ARGS_MAX);
    if (first + count > QUICKJS_ARGS)
        return pawl__js_throw(js, "Calls between script and host are nested too deeply.");
    for (uint32_t i = 0; i < count; i++)
        pawl__quickjs_store(js, at + i * 8, args[i].bits, 8);
    js->args_used = first + count;
    value =
        make(Z_quickjsZ_JS_Call(CONTEXT(js), function.bits, pawl__js_undefined().bits, count, at));
    js->args_used = first;
    return value;
}

void pawl__js_work(struct pawl_quickjs *js, size_t bytes)
{
    WASM_RT_BULK(&js->module.w2c_memory, bytes);
}

bool pawl__js_has_jobs(struct pawl_quickjs *js)
{
    return Z_quickjsZ_JS_IsJobPending(&js->module, js->roots.runtime) == 1;
}

static bool run_jobs(struct pawl_quickjs *js)
{
    uint32_t context_at = js->roots.scratch;

    while (pawl__js_has_jobs(js)) {
        int32_t done =
            (int32_t)Z_quickjsZ_JS_ExecutePendingJob(&js->module, js->roots.runtime, context_at);

        /* A job that throws by itself is nobody's: only a stop ends the queue. */
        if (done < 0) {
            if (js->end != PAWL_QUICKJS_DONE)
                return false;
            pawl__js_free(js, pawl__js_caught(js));
        }
    }
    return true;
}

struct pawl_js pawl__js_settle(struct pawl_quickjs *js, struct pawl_js value)
{
    const uint32_t pending = 0;
    const uint32_t fulfilled = 1;
    struct pawl_js result;
    uint32_t state;

    if (!run_jobs(js)) {
        pawl__js_free(js, value);
        return pawl__js_exception();
    }
    if (!pawl__js_is_promise(js, value))
        return value;
    state = Z_quickjsZ_JS_PromiseState(CONTEXT(js), value.bits);
    if (state == pending) {
        pawl__js_free(js, value);
        return pawl__js_throw(js, PAWL_JS_NEVER_SETTLED);
    }
    result = make(Z_quickjsZ_JS_PromiseResult(CONTEXT(js), value.bits));
    pawl__js_free(js, value);
    if (state == fulfilled)
        return result;
    return make(Z_quickjsZ_JS_Throw(CONTEXT(js), result.bits));
}

struct pawl_js pawl__js_caught(struct pawl_quickjs *js)
{
    return make(Z_quickjsZ_JS_GetException(CONTEXT(js)));
}

struct pawl_js pawl__js_throw(struct pawl_quickjs *js, const char *message)
{
    struct pawl_js text = pawl__js_string(js, pawl__str(message));
    struct pawl_js error;

    if (pawl__js_kind(text) == PAWL_JS_EXCEPTION)
        return text;
    error = make(Z_quickjsZ_JS_NewError(CONTEXT(js)));
    if (pawl__js_kind(error) == PAWL_JS_EXCEPTION) {
        pawl__js_free(js, text);
        return error;
    }
    if (!pawl__js_set(js, error, "message", text)) {
        pawl__js_free(js, error);
        return pawl__js_exception();
    }
    return make(Z_quickjsZ_JS_Throw(CONTEXT(js), error.bits));
}

struct pawl_js pawl__js_abort(struct pawl_quickjs *js)
{
    if (js->end == PAWL_QUICKJS_DONE)
        js->end = PAWL_QUICKJS_ABORTED;
    return pawl__js_throw(js, "The evaluation was ended by the host.");
}
