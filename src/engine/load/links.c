/* SPDX-License-Identifier: Apache-2.0 */
/* Reading connections in their several spellings; see links.h. */
#include "engine/load/links.h"

static const struct pawl_json *member(const struct pawl_json *object, const char *key)
{
    return pawl__json_get_nocase(object, pawl__str(key));
}

static bool read_link(const struct pawl_json *json, struct pawl_link *out)
{
    const struct pawl_json *source = member(json, "source");
    const struct pawl_json *target = member(json, "target");

    if (pawl__json_is(source, PAWL_JSON_STRING)) {
        *out = (struct pawl_link){
            .source = pawl__json_str(source),
            .target = pawl__json_str(target),
            .source_port = pawl__json_str(member(json, "sourcePort")),
            .target_port = pawl__json_str(member(json, "targetPort")),
        };
    } else {
        *out = (struct pawl_link){
            .source = pawl__json_str(member(source, "activity")),
            .target = pawl__json_str(member(target, "activity")),
            .source_port = pawl__json_str(member(source, "port")),
            .target_port = pawl__json_str(member(target, "port")),
        };
    }
    return out->source.len > 0 && out->target.len > 0;
}

bool pawl__links_next(const struct pawl_node *flowchart, uint32_t *at, struct pawl_link *out)
{
    const struct pawl_json *links = member(flowchart->json, "connections");
    const struct pawl_json *values = pawl__json_get_text(links, "$values");

    if (values)
        links = values;
    if (pawl__json_is(links, PAWL_JSON_OBJECT))
        return (*at)++ == 0 && read_link(links, out);
    while (pawl__json_is(links, PAWL_JSON_ARRAY) && *at < pawl__json_len(links)) {
        if (read_link(pawl__json_at(links, (*at)++), out))
            return true;
    }
    return false;
}
