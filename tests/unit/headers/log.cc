/* SPDX-License-Identifier: Apache-2.0 */
/* Logging from C++: the macros work there too, and write the same line. Exit code 0 or 1. */
#include <pawl/ext/log.h>

#include <cstdio>
#include <string>

static void keep(void *ctx, const char *line, size_t size_bytes)
{
    static_cast<std::string *>(ctx)->append(line, size_bytes);
}

static int64_t wall_ns(struct pawl_env *)
{
    return 0;
}

int main()
{
    const std::string expected = "1970-01-01 00:00:00.000 INFO  from C++  node=n1 a=1 b=true\n"
                                 "1970-01-01 00:00:00.000 WARN  no fields  node=n1\n";
    struct pawl_env_ops ops = pawl_env_ops();
    struct pawl_env env = pawl_env();
    struct pawl_log_config config = pawl_log_config();
    const struct pawl_log_field fixed[] = {pawl_log_text("node", "n1"), PAWL_LOG_END};
    struct pawl_log log, child;
    std::string lines;

    ops.wall_ns = wall_ns;
    env.ops = &ops;
    config.env = &env;
    config.sink.write = keep;
    config.sink.ctx = &lines;
    config.level = PAWL_LOG_INFO;
    pawl_log_init(&log, &config);
    pawl_log_child(&child, &log, fixed);
    pawl_log(&child, PAWL_LOG_INFO, "from C++", pawl_log_int("a", 1), pawl_log_bool("b", true));
    pawl_log(&child, PAWL_LOG_WARN, "no fields", PAWL_LOG_END);
    pawl_log(&child, PAWL_LOG_DEBUG, "not written", PAWL_LOG_END);
    if (lines == expected)
        return 0;
    std::fprintf(stderr, "got:\n%sexpected:\n%s", lines.c_str(), expected.c_str());
    return 1;
}
