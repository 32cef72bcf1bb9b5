/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An intrusive doubly linked list: the link lives in the element, nothing is allocated, and an
 * element leaves in constant time without knowing its list.
 *
 *     struct job { struct pawl_list_link link; … };
 *     PAWL_LIST_FOR_EACH(job, &queue, link) …        (struct job *job)
 *
 * A link is either in exactly one list or unlinked (both pointers NULL).
 */
#ifndef PAWL_BASE_LIST_H
#define PAWL_BASE_LIST_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>

struct pawl_list_link {
    struct pawl_list_link *prev;
    struct pawl_list_link *next;
};

struct pawl_list {
    struct pawl_list_link head; /* a ring through the head; empty: points to itself */
};

/* For the macros below: functions, so that their argument is evaluated once. */
static inline void *pawl__list_element(struct pawl_list_link *link, size_t offset)
{
    return (char *)link - offset;
}

static inline void *pawl__list_element_or_null(struct pawl_list_link *link, size_t offset)
{
    return link ? (char *)link - offset : NULL;
}

/* The element that contains the link `ptr` as `member`; NULL for NULL. */
#define PAWL_CONTAINER(ptr, type, member)                                                          \
    ((type *)pawl__list_element_or_null((ptr), offsetof(type, member)))

/* `element` must be declared; the body may remove `element` itself only by leaving the loop. */
#define PAWL_LIST_FOR_EACH(element, list, member)                                                  \
    for ((element) =                                                                               \
             pawl__list_element((list)->head.next, offsetof(__typeof__(*(element)), member));      \
         &(element)->member != &(list)->head;                                                      \
         (element) =                                                                               \
             pawl__list_element((element)->member.next, offsetof(__typeof__(*(element)), member)))

static inline void pawl__list_init(struct pawl_list *list)
{
    list->head.prev = list->head.next = &list->head;
}

static inline bool pawl__list_empty(const struct pawl_list *list)
{
    return list->head.next == &list->head;
}

static inline bool pawl__list_linked(const struct pawl_list_link *link)
{
    return link->next != NULL;
}

static inline void pawl__list_insert_between(struct pawl_list_link *link,
                                             struct pawl_list_link *prev,
                                             struct pawl_list_link *next)
{
    PAWL_ASSERT(!pawl__list_linked(link));
    link->prev = prev;
    link->next = next;
    prev->next = link;
    next->prev = link;
}

static inline void pawl__list_push_back(struct pawl_list *list, struct pawl_list_link *link)
{
    pawl__list_insert_between(link, list->head.prev, &list->head);
}

static inline void pawl__list_push_front(struct pawl_list *list, struct pawl_list_link *link)
{
    pawl__list_insert_between(link, &list->head, list->head.next);
}

static inline void pawl__list_remove(struct pawl_list_link *link)
{
    PAWL_ASSERT(pawl__list_linked(link));
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link->prev = link->next = NULL;
}

/* The first link, still in the list; NULL when empty. */
static inline struct pawl_list_link *pawl__list_first(const struct pawl_list *list)
{
    return pawl__list_empty(list) ? NULL : list->head.next;
}

/* Removes and returns the first link; NULL when empty. */
static inline struct pawl_list_link *pawl__list_pop_front(struct pawl_list *list)
{
    struct pawl_list_link *first = pawl__list_first(list);

    if (first)
        pawl__list_remove(first);
    return first;
}

#endif
