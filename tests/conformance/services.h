/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a case that the services about definitions do, as a node has them. */
#ifndef PAWL_TESTS_CONFORMANCE_SERVICES_H
#define PAWL_TESTS_CONFORMANCE_SERVICES_H

#include "conformance/case.h"

/* By the reloader: the provider has the files of the case. False: noted. */
bool services_reload(struct running *run);
/* By the refresher; ids that nobody knows are passed over. False: noted. */
bool services_refresh(struct running *run, const struct pawl_json *ids);

#endif
