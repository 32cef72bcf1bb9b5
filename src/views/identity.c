/* SPDX-License-Identifier: Apache-2.0 */
/* Views of users, roles and applications; see identity.h. */
#include "views/identity.h"

static void add_texts(struct pawl_builder *b, struct pawl_json *object, const char *key,
                      const struct pawl_texts *texts)
{
    struct pawl_json array = pawl__json_array();

    for (size_t i = 0; i < texts->count; i++)
        pawl__build_append(b, &array, pawl__json_string(texts->texts[i]));
    pawl__build(b, object, key, array);
}

struct pawl_json pawl__view_role(struct pawl_builder *b, const struct pawl_role *role)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "id", role->id);
    pawl__view_text(b, &out, "name", role->name);
    add_texts(b, &out, "permissions", &role->permissions);
    return out;
}

struct pawl_json pawl__view_user(struct pawl_builder *b, const struct pawl_user *user)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "id", user->id);
    pawl__view_optional(b, &out, "name", user->name);
    add_texts(b, &out, "roles", &user->roles);
    return out;
}

struct pawl_json pawl__view_new_user(struct pawl_builder *b, const struct pawl_user *user,
                                     struct pawl_str password)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "id", user->id);
    pawl__view_optional(b, &out, "name", user->name);
    pawl__view_text(b, &out, "password", password);
    add_texts(b, &out, "roles", &user->roles);
    pawl__view_text(b, &out, "hashedPassword", user->hash);
    pawl__view_text(b, &out, "hashedPasswordSalt", user->salt);
    return out;
}

struct pawl_json pawl__view_application(struct pawl_builder *b,
                                        const struct pawl_application *application)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "id", application->id);
    pawl__view_optional(b, &out, "name", application->name);
    add_texts(b, &out, "roles", &application->roles);
    add_texts(b, &out, "permissions", &application->permissions);
    pawl__view_text(b, &out, "clientId", application->client_id);
    pawl__view_time(b, &out, "createdAt", application->created_us);
    pawl__view_time(b, &out, "expiresAt", application->expires_us);
    return out;
}

/* A key is random, so that its hash needs no salt. */
struct pawl_json pawl__view_new_application(struct pawl_builder *b,
                                            const struct pawl_application *application,
                                            const struct pawl_application_secrets *secrets)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "id", application->id);
    pawl__view_optional(b, &out, "name", application->name);
    add_texts(b, &out, "roles", &application->roles);
    pawl__view_text(b, &out, "clientId", application->client_id);
    pawl__view_text(b, &out, "clientSecret", secrets->client_secret);
    pawl__view_text(b, &out, "apiKey", secrets->api_key);
    pawl__view_text(b, &out, "hashedApiKey", secrets->api_key_hash);
    pawl__view_text(b, &out, "hashedApiKeySalt", pawl__str(""));
    pawl__view_text(b, &out, "hashedClientSecret", secrets->client_secret_hash);
    pawl__view_text(b, &out, "hashedClientSecretSalt", pawl__str(""));
    return out;
}
