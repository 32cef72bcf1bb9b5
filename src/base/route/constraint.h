/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constraints of route parameters, as ASP.NET has them.
 *
 *     int long decimal double float bool guid alpha required
 *     min(n) max(n) range(n,m) length(n) length(n,m) minlength(n) maxlength(n)
 *
 * Any other (regex, datetime, file, one's own) holds always: Elsa compares paths without looking at
 * constraints, so a definition that has one there must work here.
 */
#ifndef PAWL_BASE_ROUTE_CONSTRAINT_H
#define PAWL_BASE_ROUTE_CONSTRAINT_H

#include "base/str.h"

/* Whether the value meets all of them: "int:min(1)". Empty: yes. */
bool pawl__route_constraints_hold(struct pawl_str constraints, struct pawl_str value);

#endif
