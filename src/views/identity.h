/* SPDX-License-Identifier: Apache-2.0 */
/* Views of identity.h of operations, as Elsa shows them. */
#ifndef PAWL_VIEWS_IDENTITY_H
#define PAWL_VIEWS_IDENTITY_H

#include "operations/identity.h"
#include "views/view.h"

struct pawl_json pawl__view_role(struct pawl_builder *b, const struct pawl_role *role);
struct pawl_json pawl__view_user(struct pawl_builder *b, const struct pawl_user *user);
/* What creating one returns: the password too, once. */
struct pawl_json pawl__view_new_user(struct pawl_builder *b, const struct pawl_user *user,
                                     struct pawl_str password);
/* Without the key, for lists. */
struct pawl_json pawl__view_application(struct pawl_builder *b,
                                        const struct pawl_application *application);
struct pawl_json pawl__view_new_application(struct pawl_builder *b,
                                            const struct pawl_application *application,
                                            const struct pawl_application_secrets *secrets);

#endif
