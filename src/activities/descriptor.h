/* SPDX-License-Identifier: Apache-2.0 */
/* For writing down descriptors: lists with their lengths, and types that only descriptors name. */
#ifndef PAWL_ACTIVITIES_DESCRIPTOR_H
#define PAWL_ACTIVITIES_DESCRIPTOR_H

#include "engine/activity.h"

#define PAWL_COUNT(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))
#define PAWL_INPUTS(list) .inputs = (list), .input_count = PAWL_COUNT(list)
#define PAWL_OUTPUTS(list) .outputs = (list), .output_count = PAWL_COUNT(list)
#define PAWL_PORTS(list) .ports = (list), .port_count = PAWL_COUNT(list)

/* How Elsa names, in descriptors, a type that has no alias. */
#define PAWL_CLR_TYPE(name) "UnregisteredClrType:" name

#endif
