/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones from the system's own database, so that a change of law reaches Pawl with the
 * system's updates: /usr/share/zoneinfo, or the folder in the environment variable TZDIR.
 */
#ifndef PAWL_OS_TZDATA_H
#define PAWL_OS_TZDATA_H

#include "base/time/timezone.h"

/*
 * Loads a zone by its IANA name, such as "Europe/Berlin". "UTC" and "Etc/UTC" need no files.
 * PAWL_EINVAL: not the form of a name (absolute, with "..", empty, odd characters).
 * PAWL_ENOTFOUND: no such zone. PAWL_EMISSING: no database; names the package to install.
 * PAWL_EPERM, PAWL_EIO, PAWL_ECORRUPT (the file is no zone), PAWL_EUNSUPPORTED ("right/…").
 */
PAWL_MUST_CHECK int pawl__tzdata_load(const struct pawl_allocator *alloc, struct pawl_str name,
                                      struct pawl_timezone **out, struct pawl_error *err);

/*
 * The zone of this machine and process, as the C library finds it: the environment variable TZ
 * with a name, a path or a POSIX rule; without it /etc/localtime; without that UTC. An empty TZ is
 * UTC. Where /etc/localtime is a link into the database the zone is called by the name there, else
 * "localtime".
 */
PAWL_MUST_CHECK int pawl__tzdata_local(const struct pawl_allocator *alloc,
                                       struct pawl_timezone **out, struct pawl_error *err);

#endif
