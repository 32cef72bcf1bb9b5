/* SPDX-License-Identifier: Apache-2.0 */
/* What the files freetds*.c share: db-lib's functions, and a connection's insides. */
#ifndef PAWL_DRIVERS_FREETDS_PRIVATE_H
#define PAWL_DRIVERS_FREETDS_PRIVATE_H

#include "drivers/freetds.h"
#include "os/library.h"

#include <sybfront.h>
/* Behind it. */
#include <sybdb.h>

/* clang-format off */
#define TDS_FUNCTIONS(X)                                                                           \
    X(dbcancel) X(dbclose) X(dbcmd) X(dbcoltype) X(dbconvert) X(dbdata) X(dbdatlen) X(dbdead)      \
    X(dberrhandle) X(dbfreebuf) X(dbhasretstat) X(dbinit) X(dbiordesc) X(dblogin) X(dbloginfree)   \
    X(dbmsghandle) X(dbnextrow) X(dbnumcols) X(dbresults) X(dbretstatus) X(dbrpcinit)              \
    X(dbrpcparam) X(dbrpcsend) X(dbsetifile) X(dbsetinterrupt) X(dbsetlname) X(dbsqlok)            \
    X(dbsqlsend) X(tdsdbopen)
/* clang-format on */

#define TDS_MEMBER(function) __typeof__(function) *(function);
struct tds_functions {
    TDS_FUNCTIONS(TDS_MEMBER)
};
#undef TDS_MEMBER

#define TDS_SECTION_SIZE 40

struct pawl_tds {
    struct pawl_env *env;
    struct pawl_library library;
    struct tds_functions call;
    char section[TDS_SECTION_SIZE]; /* of db-lib's configuration */
    char *texts;                    /* the four behind each other, each with a NUL */
    size_t texts_size;
    const char *host, *user, *password, *database;
    uint16_t port;
    enum pawl_tds_tls tls;
    bool has_ca_file;
    int64_t patience_ns;
};

/* What the handlers heard during one call. */
struct tds_heard {
    int32_t number; /* of the server's first error, 0: none */
    int severity;
    char text[300];
    int library_number; /* of db-lib's own first one */
    int os_number;
    char library_text[200];
    struct pawl_env *env;
    int64_t until_ns; /* reading that takes longer is given up */
};

struct pawl_tds_conn {
    struct pawl_tds *tds;
    DBPROCESS *process;
    bool broken;
    struct tds_heard heard;
};

/* Before and after a piece of calls to db-lib: whose handlers are meant on this thread. */
void pawl__tds_enter(struct tds_heard *heard);
void pawl__tds_leave(void);

/* Of a login that failed. */
int pawl__tds_connect_error(const struct pawl_tds *tds, const struct tds_heard *heard,
                            struct pawl_error *err);
/* Of a connection that broke, with `code`. */
int pawl__tds_lost_error(const struct pawl_tds_conn *conn, int code, struct pawl_error *err);
/* Of what the server called an error. */
int pawl__tds_server_error(const struct pawl_tds_conn *conn, struct pawl_error *err);

#endif
