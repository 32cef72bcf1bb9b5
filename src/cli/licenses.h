/* SPDX-License-Identifier: Apache-2.0 */
/* Notices of the parts that are compiled into the program and that others wrote. */
#ifndef PAWL_CLI_LICENSES_H
#define PAWL_CLI_LICENSES_H

struct pawl_cli_license {
    const char *part;      /* "llhttp" */
    const char *purpose;   /* what it does here */
    const char *copyright; /* one or more lines, each with its newline */
    const char *terms;     /* the text of the licence */
};

/* Ends with a part of NULL. */
extern const struct pawl_cli_license pawl__cli_licenses[];

#endif
