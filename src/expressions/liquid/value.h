/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a template. Numbers are decimals that remember their trailing zeros (1.5 times 2 is
 * 3.0). Arrays and dictionaries are either made by filters or look into a workflow's value without
 * copying it.
 */
#ifndef PAWL_EXPRESSIONS_LIQUID_VALUE_H
#define PAWL_EXPRESSIONS_LIQUID_VALUE_H

#include "base/time/datetime.h"
#include "engine/exception.h"
#include "engine/value/number.h"
#include "engine/value/value.h"

#include <pawl/error.h>

struct liquid_run;

enum liquid_kind {
    LIQUID_NIL,
    LIQUID_BLANK, /* the word blank: equal to nothing, false and white space */
    LIQUID_EMPTY, /* the word empty: equal to "" and collections without items */
    LIQUID_BOOL,
    LIQUID_NUMBER,
    LIQUID_STRING,
    LIQUID_DATE,
    LIQUID_ARRAY,      /* made here: u.array */
    LIQUID_JSON_ARRAY, /* of a workflow: u.json */
    LIQUID_JSON_OBJECT,
    LIQUID_OPAQUE, /* a scalar JSON node: prints as u.text, is no number */
    LIQUID_LOOP,   /* forloop */
    LIQUID_ROOT,   /* where Variables, Input, CorrelationId are members of */
    LIQUID_VARIABLES,
    LIQUID_INPUT,
};

/* forloop; changes from one turn to the next. */
struct liquid_loop {
    uint32_t index; /* from 0, counted over the whole source */
    uint32_t length;
    const struct liquid_loop *outer; /* parentloop, or NULL */
};

struct liquid_value {
    enum liquid_kind kind;
    union {
        bool boolean;
        struct pawl_net_decimal number;
        struct pawl_str text;
        struct pawl_datetime date;
        struct {
            const struct liquid_value *items;
            uint32_t count;
        } array;
        struct {
            const struct pawl_json *json;
            const struct pawl_type *element; /* of what is in it; NULL: plain JSON */
        } json;
        const struct liquid_loop *loop;
    } u;
};

/* ---- making ------------------------------------------------------------------------------ */

static inline struct liquid_value pawl__liquid_nil(void)
{
    return (struct liquid_value){.kind = LIQUID_NIL};
}

static inline struct liquid_value pawl__liquid_bool(bool value)
{
    return (struct liquid_value){.kind = LIQUID_BOOL, .u.boolean = value};
}

/* Borrows. */
static inline struct liquid_value pawl__liquid_string(struct pawl_str text)
{
    return (struct liquid_value){.kind = LIQUID_STRING, .u.text = text};
}

static inline struct liquid_value pawl__liquid_decimal(struct pawl_net_decimal number)
{
    return (struct liquid_value){.kind = LIQUID_NUMBER, .u.number = number};
}

struct liquid_value pawl__liquid_int(int64_t value);

/* What a workflow's value is in a template. Raises for numbers that a decimal cannot hold. */
PAWL_MUST_CHECK int pawl__liquid_from_value(struct liquid_run *run, struct pawl_value value,
                                            struct liquid_value *out);

/* Room for `count` values; NULL with the arena's status set. */
struct liquid_value *pawl__liquid_values_new(struct liquid_run *run, size_t count);

/* ---- reading ----------------------------------------------------------------------------- */

/* nil, blank and empty count as nothing where an argument may be left out. */
static inline bool pawl__liquid_is_nil(const struct liquid_value *value)
{
    return value->kind <= LIQUID_EMPTY;
}

static inline bool pawl__liquid_is_array(const struct liquid_value *value)
{
    return value->kind == LIQUID_ARRAY || value->kind == LIQUID_JSON_ARRAY;
}

/* Everything is true but nil and false. */
bool pawl__liquid_truth(const struct liquid_value *value);
bool pawl__liquid_equal(struct liquid_run *run, const struct liquid_value *a,
                        const struct liquid_value *b);

/* Items of an array, members of an object (as [key, value]), one for other values, none for nil. */
uint32_t pawl__liquid_count(const struct liquid_value *value);
PAWL_MUST_CHECK int pawl__liquid_item(struct liquid_run *run, const struct liquid_value *value,
                                      uint32_t index, struct liquid_value *out);

/* value.name and value[index]; nil when there is no such thing. */
PAWL_MUST_CHECK int pawl__liquid_member(struct liquid_run *run, const struct liquid_value *value,
                                        struct pawl_str name, struct liquid_value *out);
PAWL_MUST_CHECK int pawl__liquid_index(struct liquid_run *run, const struct liquid_value *value,
                                       const struct liquid_value *index, struct liquid_value *out);

/* The number a value counts as: texts are read, 0 where they are none. Raises for opaque ones. */
PAWL_MUST_CHECK int pawl__liquid_to_number(struct liquid_run *run, const struct liquid_value *value,
                                           struct pawl_net_decimal *out);
/* The same, rounded half to even; raises when it does not fit. */
PAWL_MUST_CHECK int pawl__liquid_to_int(struct liquid_run *run, const struct liquid_value *value,
                                        int32_t *out);
/* Its text, in the arena where it has to be made. Numbers keep their trailing zeros: "3.00". */
PAWL_MUST_CHECK int pawl__liquid_to_text(struct liquid_run *run, const struct liquid_value *value,
                                         struct pawl_str *out);
/* What an output prints: as above, but numbers as "3.0" and "0.25". */
PAWL_MUST_CHECK int pawl__liquid_print(struct liquid_run *run, const struct liquid_value *value,
                                       struct pawl_buf *out);
/* JSON text of a value; indent 0 is compact. */
PAWL_MUST_CHECK int pawl__liquid_write_json(struct liquid_run *run,
                                            const struct liquid_value *value, uint8_t indent,
                                            struct pawl_buf *out);

/* ---- numbers ----------------------------------------------------------------------------- */

/* As the platform's decimal does; false: the result is too large. */
bool pawl__liquid_add(struct pawl_net_decimal a, struct pawl_net_decimal b,
                      struct pawl_net_decimal *out);
bool pawl__liquid_multiply(struct pawl_net_decimal a, struct pawl_net_decimal b,
                           struct pawl_net_decimal *out);
/* `b` must not be 0. */
bool pawl__liquid_divide(struct pawl_net_decimal a, struct pawl_net_decimal b,
                         struct pawl_net_decimal *out);
struct pawl_net_decimal pawl__liquid_negate(struct pawl_net_decimal a);
/* Half to even, to `digits` behind the point. */
struct pawl_net_decimal pawl__liquid_round(struct pawl_net_decimal a, unsigned digits);
/* Down to a whole number, towards minus infinity. */
struct pawl_net_decimal pawl__liquid_floor(struct pawl_net_decimal a);
int pawl__liquid_compare_numbers(struct pawl_net_decimal a, struct pawl_net_decimal b);
/* Appends it as outputs do: 3.00 is 3.0, 0.250 is 0.25, 0.00001 is 1E-05. */
void pawl__liquid_print_number(struct pawl_buf *out, struct pawl_net_decimal a);

#endif
