/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From C++: an activity, Demo.Counter, that waits for ticks, remembers how many came, and ends
 * after three; and a small class that closes what it opened.
 *
 *     c++ -std=c++17 counter.cc $(pkg-config --cflags --libs pawl) -o counter && ./counter
 */
#include <pawl/pawl.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

static const char definition[] = R"({
    "definitionId": "counter",
    "root": {"type": "Elsa.Sequence", "activities": [
        {"id": "count", "type": "Demo.Counter",
         "result": {"typeName": "Int64", "memoryReference": {"id": "total"}}},
        {"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression":
            {"type": "Liquid", "value": "counted to {{ Variables.Total }}"}}}]},
    "variables": [{"id": "total", "name": "Total", "typeName": "Int64"}]})";

static int wait_for_tick(void *, struct pawl_context *context)
{
    return pawl_context_wait(context, "Tick", nullptr);
}

/* Between two ticks the instance is in the store and nowhere else. */
static int ticked(void *ctx, struct pawl_context *context, const char *)
{
    const char *memory = nullptr;
    int status = pawl_context_memory(context, "count", &memory);

    if (status != PAWL_OK)
        return status;
    const long count = std::strtol(memory, nullptr, 10) + 1; /* "null" is 0 */
    std::printf("tick %ld\n", count);
    if (count == 3)
        return pawl_context_output_int(context, "Result", count);
    status = pawl_context_memory_set(context, "count", std::to_string(count).c_str());
    return status == PAWL_OK ? wait_for_tick(ctx, context) : status;
}

class Pawl
{
  public:
    explicit Pawl(const pawl_options &options)
    {
        check(pawl_open(&options, &pawl_, &err_));
    }
    ~Pawl()
    {
        pawl_close(pawl_);
    }
    Pawl(const Pawl &) = delete;
    Pawl &operator=(const Pawl &) = delete;

    void publish(const char *json)
    {
        check(pawl_definition_publish(pawl_, json, nullptr, nullptr, nullptr, &err_));
    }
    pawl_instance_outcome start(const char *definition_id)
    {
        pawl_start_options what = {};
        pawl_instance_outcome outcome;

        what.definition_id = definition_id;
        check(pawl_instance_start(pawl_, &what, &outcome, &err_));
        return outcome;
    }
    void tick()
    {
        check(pawl_stimulus_send(pawl_, "Tick", nullptr, nullptr, nullptr, nullptr, &err_));
        check(pawl_drain(pawl_, 60000, nullptr, &err_));
    }
    pawl_instance_outcome wait(const pawl_instance_outcome &instance)
    {
        pawl_instance_outcome outcome;

        check(pawl_instance_wait(pawl_, instance.instance_id, 60000, &outcome, &err_));
        return outcome;
    }

  private:
    void check(int status) const
    {
        if (status != PAWL_OK)
            throw std::runtime_error(err_.msg);
    }

    struct pawl *pawl_ = nullptr;
    pawl_error err_ = PAWL_ERROR_INIT;
};

int main()
{
    static const pawl_activity_output outputs[] = {{"Result", "Int64", "How many came."}};
    pawl_activity_type counter = {};
    pawl_options options = {};

    counter.type = "Demo.Counter";
    counter.outputs = outputs;
    counter.output_count = 1;
    counter.execute = wait_for_tick;
    counter.resume = ticked;
    options.store = "memory:";
    options.activities = &counter;
    options.activity_count = 1;
    options.line = [](void *, const char *, const char *text) { std::printf("%s\n", text); };
    try {
        Pawl pawl(options);

        pawl.publish(definition);
        const pawl_instance_outcome instance = pawl.start("counter");
        for (int i = 0; i < 3; i++)
            pawl.tick();
        std::printf("%s\n", pawl_instance_status_name(pawl.wait(instance).status));
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
    return 0;
}
