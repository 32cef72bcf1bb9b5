/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the translated module imports: twelve functions, all of them here: a clock that does
 * not advance, the zone UTC, the interrupt check, and stubs that refuse.
 */
#include "drivers/quickjs_private.h"

#define WASI_EBADF 8u
#define WASI_ENOTSUP 58u

static struct pawl_quickjs *from_env(struct Z_env_instance_t *env)
{
    return (struct pawl_quickjs *)(void *)env;
}

static struct pawl_quickjs *from_wasi(struct Z_wasi_snapshot_preview1_instance_t *wasi)
{
    return (struct pawl_quickjs *)(void *)wasi;
}

/* Returns 1 to end a script that the host has aborted. Limits are counted elsewhere (spend()). */
u32 Z_envZ_host_interrupt(struct Z_env_instance_t *env)
{
    return from_env(env)->end != PAWL_QUICKJS_DONE;
}

u32 Z_envZ_host_get_timezone_offset(struct Z_env_instance_t *env, u32 high, u32 low)
{
    (void)env;
    (void)high;
    (void)low;
    return 0;
}

u32 Z_envZ_host_call(struct Z_env_instance_t *env, u32 name, u32 name_size, u32 this_value,
                     u32 count, u32 args)
{
    /* The module's own kind of host function, which we never make. */
    (void)env;
    (void)name;
    (void)name_size;
    (void)this_value;
    (void)count;
    (void)args;
    wasm_rt_trap(WASM_RT_TRAP_UNREACHABLE);
}

u32 Z_envZ_host_module_load(struct Z_env_instance_t *env, u32 name, u32 out)
{
    (void)env;
    (void)name;
    (void)out;
    return 0;
}

u32 Z_envZ_host_module_normalize(struct Z_env_instance_t *env, u32 base, u32 name)
{
    (void)env;
    (void)base;
    (void)name;
    return 0;
}

void Z_envZ_host_promise_rejection(struct Z_env_instance_t *env, u32 promise, u32 reason,
                                   u32 handled)
{
    (void)env;
    (void)promise;
    (void)reason;
    (void)handled;
}

u32 Z_wasi_snapshot_preview1Z_clock_time_get(struct Z_wasi_snapshot_preview1_instance_t *wasi,
                                             u32 clock, u64 precision, u32 out)
{
    struct pawl_quickjs *js = from_wasi(wasi);

    (void)clock;
    (void)precision;
    pawl__quickjs_store(js, out, js->host ? (uint64_t)js->host->now_unix_ns : 0, 8);
    return 0;
}

/* The engine seeds its Math.random with it; scripts get another one, from the host. */
u32 Z_wasi_snapshot_preview1Z_random_get(struct Z_wasi_snapshot_preview1_instance_t *wasi, u32 out,
                                         u32 size)
{
    struct pawl_quickjs *js = from_wasi(wasi);

    if (!pawl__quickjs_holds(js, out, size))
        return WASI_ENOTSUP;
    memset(pawl__quickjs_at(js, out), 0x5a, size);
    return 0;
}

u32 Z_wasi_snapshot_preview1Z_fd_close(struct Z_wasi_snapshot_preview1_instance_t *wasi, u32 fd)
{
    (void)wasi;
    (void)fd;
    return WASI_EBADF;
}

u32 Z_wasi_snapshot_preview1Z_fd_fdstat_get(struct Z_wasi_snapshot_preview1_instance_t *wasi,
                                            u32 fd, u32 out)
{
    (void)wasi;
    (void)fd;
    (void)out;
    return WASI_EBADF;
}

u32 Z_wasi_snapshot_preview1Z_fd_seek(struct Z_wasi_snapshot_preview1_instance_t *wasi, u32 fd,
                                      u64 offset, u32 whence, u32 out)
{
    (void)wasi;
    (void)fd;
    (void)offset;
    (void)whence;
    (void)out;
    return WASI_EBADF;
}

u32 Z_wasi_snapshot_preview1Z_fd_write(struct Z_wasi_snapshot_preview1_instance_t *wasi, u32 fd,
                                       u32 vectors, u32 count, u32 out)
{
    (void)wasi;
    (void)fd;
    (void)vectors;
    (void)count;
    (void)out;
    return WASI_EBADF;
}
