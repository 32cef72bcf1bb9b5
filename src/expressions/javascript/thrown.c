/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of errors; see thrown.h. The engine does not say what was called. It says a place, which is
 * at or before the end of the call: so the calls of the script are listed by their ends, and the
 * first that ends behind the place is it, unless what it calls is known to be a function. Where a
 * second one is as likely, nothing is named.
 */
#include "expressions/javascript/thrown.h"

/* Longer scripts keep the engine's text. */
#define SCRIPT_BYTES_MAX 8192
#define TEMPLATE_DEPTH_MAX 16

enum token_kind {
    TOKEN_NAME,
    TOKEN_TEXT, /* a string, a number, a part of a template */
    TOKEN_SIGN, /* one character; ?. counts as . */
};

struct token {
    struct pawl_str text;
    enum token_kind kind;
    char sign;
};

struct tokens {
    const char *start; /* of the script */
    struct token *items;
    uint32_t count;
};

struct scanner {
    struct pawl_str text;
    size_t at;
    struct tokens out;
    uint32_t braces[TEMPLATE_DEPTH_MAX]; /* open ones in each ${ of a template */
    uint32_t depth;
};

/* ---- tokens ------------------------------------------------------------------------------ */

static bool continues_name(char c)
{
    unsigned char u = (unsigned char)c;

    return (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || (u >= '0' && u <= '9') || u == '_' ||
           u == '$' || u >= 0x80;
}

static char peek(const struct scanner *s, size_t ahead)
{
    return s->at + ahead < s->text.len ? s->text.ptr[s->at + ahead] : '\0';
}

static void add_token(struct scanner *s, size_t from, enum token_kind kind)
{
    struct pawl_str text = pawl__str_slice(s->text, from, s->at);

    s->out.items[s->out.count++] = (struct token){
        .text = text, .kind = kind, .sign = kind == TOKEN_SIGN ? text.ptr[text.len - 1] : '\0'};
}

static void scan_until(struct scanner *s, char end)
{
    size_t from = s->at++;

    while (s->at < s->text.len && peek(s, 0) != end)
        s->at += peek(s, 0) == '\\' ? 2 : 1;
    if (s->at > s->text.len)
        s->at = s->text.len;
    s->at += s->at < s->text.len;
    add_token(s, from, TOKEN_TEXT);
}

/* From ` or from the } that ends a ${…} to the next ${ or `. */
static void scan_template(struct scanner *s)
{
    size_t from = s->at++;

    while (s->at < s->text.len && peek(s, 0) != '`' && !(peek(s, 0) == '$' && peek(s, 1) == '{'))
        s->at += peek(s, 0) == '\\' ? 2 : 1;
    if (s->at >= s->text.len) {
        s->at = s->text.len;
    } else if (peek(s, 0) == '`') {
        s->at++;
    } else {
        s->at += 2;
        if (s->depth < TEMPLATE_DEPTH_MAX)
            s->braces[s->depth++] = 0;
    }
    add_token(s, from, TOKEN_TEXT);
}

static bool skip_comment(struct scanner *s)
{
    if (peek(s, 0) != '/' || (peek(s, 1) != '/' && peek(s, 1) != '*'))
        return false;
    if (peek(s, 1) == '/') {
        while (s->at < s->text.len && peek(s, 0) != '\n')
            s->at++;
        return true;
    }
    s->at += 2;
    while (s->at < s->text.len && !(peek(s, 0) == '*' && peek(s, 1) == '/'))
        s->at++;
    s->at = s->at + 2 < s->text.len ? s->at + 2 : s->text.len;
    return true;
}

/* A / behind an operand divides; anywhere else it begins a regular expression. */
static bool begins_regexp(const struct scanner *s)
{
    const struct token *last = s->out.count > 0 ? &s->out.items[s->out.count - 1] : NULL;

    return peek(s, 0) == '/' && (!last || (last->kind == TOKEN_SIGN && last->sign != ')' &&
                                           last->sign != ']' && last->sign != '}'));
}

static void scan_sign(struct scanner *s)
{
    size_t from = s->at;
    uint32_t *open = s->depth > 0 ? &s->braces[s->depth - 1] : NULL;

    if (peek(s, 0) == '}' && open && *open == 0) {
        s->depth--;
        scan_template(s);
        return;
    }
    if (open && peek(s, 0) == '{')
        ++*open;
    if (open && peek(s, 0) == '}')
        --*open;
    s->at += peek(s, 0) == '?' && peek(s, 1) == '.' ? 2 : 1;
    add_token(s, from, TOKEN_SIGN);
}

static void scan_one(struct scanner *s)
{
    size_t from = s->at;
    char c = peek(s, 0);

    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        s->at++;
    } else if (continues_name(c)) {
        while (continues_name(peek(s, 0)) && s->at < s->text.len)
            s->at++;
        add_token(s, from, c >= '0' && c <= '9' ? TOKEN_TEXT : TOKEN_NAME);
    } else if (c == '"' || c == '\'') {
        scan_until(s, c);
    } else if (c == '`') {
        scan_template(s);
    } else if (!skip_comment(s)) {
        if (begins_regexp(s))
            scan_until(s, '/');
        else
            scan_sign(s);
    }
}

static bool scan(struct pawl_arena *arena, struct pawl_str text, struct tokens *out)
{
    struct scanner s = {.text = text, .out.start = text.ptr};

    s.out.items = pawl__arena_alloc_array(arena, text.len + 1, sizeof *s.out.items);
    if (!s.out.items)
        return false;
    while (s.at < text.len)
        scan_one(&s);
    *out = s.out;
    return true;
}

/* ---- calls ------------------------------------------------------------------------------- */

struct call {
    uint32_t first; /* the token that its callee begins with */
    uint32_t open;  /* its ( */
    size_t end;     /* where its ) is */
};

struct calls {
    struct call *items;
    uint32_t count;
};

static bool is_sign(const struct tokens *tokens, uint32_t i, char sign)
{
    return i < tokens->count && tokens->items[i].kind == TOKEN_SIGN &&
           tokens->items[i].sign == sign;
}

static bool is_word(const struct tokens *tokens, uint32_t i, const char *const *words)
{
    for (; i < tokens->count && tokens->items[i].kind == TOKEN_NAME && *words; words++) {
        if (pawl__str_is(tokens->items[i].text, *words))
            return true;
    }
    return false;
}

/* The bracket that belongs to the one at `i`, in the direction of `step`; UINT32_MAX: none. */
static uint32_t matching(const struct tokens *tokens, uint32_t i, int step)
{
    uint32_t depth = 0;

    for (; i < tokens->count; i += (uint32_t)step) {
        char sign = tokens->items[i].kind == TOKEN_SIGN ? tokens->items[i].sign : ' ';
        bool opens = sign == '(' || sign == '[' || sign == '{';
        bool closes = sign == ')' || sign == ']' || sign == '}';

        if (step > 0 ? opens : closes)
            depth++;
        else if ((opens || closes) && --depth == 0)
            return i;
    }
    return UINT32_MAX;
}

/* The first token of what stands before the token at `i`: a.b[0](1).c for a ( behind it. */
static uint32_t callee_start(const struct tokens *tokens, uint32_t i)
{
    while (i > 0) {
        uint32_t last = i - 1;

        if (is_sign(tokens, last, '.')) {
            i = last;
        } else if (is_sign(tokens, last, ')') || is_sign(tokens, last, ']')) {
            i = matching(tokens, last, -1);
            if (i == UINT32_MAX)
                return last;
        } else if (tokens->items[last].kind == TOKEN_SIGN ||
                   (i < tokens->count && tokens->items[i].kind != TOKEN_SIGN)) {
            return i;
        } else {
            i = last;
        }
    }
    return i;
}

static bool read_call(const struct tokens *tokens, uint32_t open, uint32_t close, struct call *out)
{
    static const char *const others[] = {
        "if",   "for", "while", "switch", "catch", "function", "return", "typeof", "await",
        "void", "in",  "of",    "do",     "else",  "delete",   "case",   NULL};
    static const char *const function[] = {"function", NULL};

    if (open == 0 || is_word(tokens, open - 1, others))
        return false;
    if (tokens->items[open - 1].kind == TOKEN_TEXT ||
        (tokens->items[open - 1].kind == TOKEN_SIGN && !is_sign(tokens, open - 1, ')') &&
         !is_sign(tokens, open - 1, ']')))
        return false;
    /* What a brace or an arrow follows is a function that is made, not called. */
    if (is_sign(tokens, close + 1, '{') ||
        (is_sign(tokens, close + 1, '=') && is_sign(tokens, close + 2, '>')) ||
        (open > 1 && is_word(tokens, open - 2, function)))
        return false;
    *out = (struct call){
        .first = callee_start(tokens, open),
        .open = open,
        .end = (size_t)(tokens->items[close].text.ptr - tokens->start),
    };
    return true;
}

/* All calls, by where they end. */
static bool find_calls(struct pawl_arena *arena, const struct tokens *tokens, struct calls *out)
{
    uint32_t *open = pawl__arena_alloc_array(arena, tokens->count + 1, sizeof *open);
    uint32_t depth = 0;

    *out = (struct calls){
        .items = pawl__arena_alloc_array(arena, tokens->count + 1, sizeof *out->items)};
    if (!open || !out->items)
        return false;
    for (uint32_t i = 0; i < tokens->count; i++) {
        if (is_sign(tokens, i, '('))
            open[depth++] = i;
        else if (is_sign(tokens, i, ')') && depth > 0 &&
                 read_call(tokens, open[--depth], i, &out->items[out->count]))
            out->count++;
    }
    return true;
}

/* f(), or a member of a built-in object. */
static bool calls_known(const struct pawl_javascript_thrown *thrown, const struct tokens *tokens,
                        const struct call *call)
{
    uint32_t length = call->open - call->first;
    const struct token *first = &tokens->items[call->first];

    return (length == 1 || length == 3) && first->kind == TOKEN_NAME &&
           thrown->is_known(thrown->ctx, first->text);
}

/* Whether a function is made between two tokens: its body has places of its own. */
static bool makes_function(const struct tokens *tokens, uint32_t from, uint32_t to)
{
    static const char *const function[] = {"function", NULL};

    for (uint32_t i = from; i < to; i++) {
        if (is_word(tokens, i, function) ||
            (is_sign(tokens, i, '=') && is_sign(tokens, i + 1, '>')))
            return true;
    }
    return false;
}

/* Whether the place could be that of a later call: of what this one returns, or around it. */
static bool may_be_another(const struct pawl_javascript_thrown *thrown, const struct tokens *tokens,
                           const struct calls *calls, uint32_t index)
{
    const struct call *call = &calls->items[index];

    for (uint32_t i = index + 1; i < calls->count; i++) {
        const struct call *other = &calls->items[i];
        bool is_around =
            other->open < call->first && !makes_function(tokens, other->open, call->first);

        if ((other->first == call->first || is_around) && !calls_known(thrown, tokens, other))
            return true;
    }
    return false;
}

static size_t place_in(struct pawl_str text, uint32_t line, uint32_t column)
{
    size_t at = 0;

    for (uint32_t i = 1; i < line && at < text.len; at++)
        i += text.ptr[at] == '\n';
    return at + column;
}

/* The call at a place; false: it cannot be told. */
static bool find_call(struct pawl_arena *arena, const struct pawl_javascript_thrown *thrown,
                      const struct tokens *tokens, struct call *out)
{
    size_t place = place_in(thrown->script, thrown->line, thrown->column);
    struct calls calls;
    uint32_t i = 0;

    if (!find_calls(arena, tokens, &calls))
        return false;
    while (i < calls.count && calls.items[i].end < place)
        i++;
    while (i + 1 < calls.count && calls_known(thrown, tokens, &calls.items[i]))
        i++;
    if (i >= calls.count || may_be_another(thrown, tokens, &calls, i))
        return false;
    *out = calls.items[i];
    return true;
}

/* ---- texts ------------------------------------------------------------------------------- */

static struct pawl_str around(struct pawl_arena *arena, const char *before, struct pawl_str name,
                              const char *after)
{
    const char *text = pawl__arena_printf(arena, "%s%.*s%s", before, PAWL_STR_ARG(name), after);

    return text ? pawl__str(text) : name;
}

/* The name of the property or variable that is called; empty when only its value would tell. */
static struct pawl_str called_name(const struct tokens *tokens, const struct call *call)
{
    const struct token *last = &tokens->items[call->open - 1];
    struct pawl_str none = {"", 0};
    uint32_t bracket;

    if (last->kind == TOKEN_NAME)
        return last->text;
    if (!is_sign(tokens, call->open - 1, ']'))
        return none;
    bracket = matching(tokens, call->open - 1, -1);
    if (bracket == UINT32_MAX || bracket + 3 != call->open ||
        tokens->items[bracket + 1].kind != TOKEN_TEXT)
        return none;
    last = &tokens->items[bracket + 1];
    if (last->text.ptr[0] == '"' || last->text.ptr[0] == '\'')
        return pawl__str_slice(last->text, 1, last->text.len - 1);
    return last->text;
}

/* A script that has the text itself has perhaps thrown it. */
static bool says(struct pawl_str script, struct pawl_str text)
{
    for (size_t i = 0; i + text.len <= script.len; i++) {
        if (memcmp(script.ptr + i, text.ptr, text.len) == 0)
            return true;
    }
    return false;
}

static struct pawl_str not_a_function(struct pawl_arena *arena,
                                      const struct pawl_javascript_thrown *thrown)
{
    static const char *const news[] = {"new", NULL};
    static const char *const values[] = {"null", "true", "false", "this", NULL};
    struct tokens tokens;
    struct pawl_str name;
    struct call call;

    if (thrown->script.len > SCRIPT_BYTES_MAX || thrown->line == 0 ||
        says(thrown->script, thrown->message) || !scan(arena, thrown->script, &tokens) ||
        !find_call(arena, thrown, &tokens, &call))
        return thrown->message;
    if (call.first > 0 && is_word(&tokens, call.first - 1, news)) {
        const char *from = tokens.items[call.first].text.ptr;
        const struct token *last = &tokens.items[call.open - 1];

        name = pawl__str_make(from, (size_t)(last->text.ptr + last->text.len - from));
        return around(arena, "", name, " is not a constructor");
    }
    name = called_name(&tokens, &call);
    if (call.open - call.first == 1 && is_word(&tokens, call.first, values))
        return around(arena, "", name, " is not a function");
    return name.len == 0 ? thrown->message
                         : around(arena, "Property '", name, "' of object is not a function");
}

/* What is between `before` and `after` in the message; false: it is another message. */
static bool between(struct pawl_str message, const char *before, const char *after,
                    struct pawl_str *out)
{
    struct pawl_str head = pawl__str(before);
    struct pawl_str tail = pawl__str(after);

    if (!pawl__str_starts(message, head) || !pawl__str_ends(message, tail) ||
        message.len < head.len + tail.len)
        return false;
    *out = pawl__str_slice(message, head.len, message.len - tail.len);
    return true;
}

struct pawl_str pawl__javascript_thrown_text(struct pawl_arena *arena,
                                             const struct pawl_javascript_thrown *thrown)
{
    struct pawl_str message = thrown->message;
    struct pawl_str rest;

    if (pawl__str_is(message, "not a function"))
        return thrown->by_native ? pawl__str("Argument must be callable")
                                 : not_a_function(arena, thrown);
    if (between(message, "cannot read property ", "", &rest) ||
        between(message, "cannot set property ", "", &rest))
        return around(arena, "Cannot read property ", rest, "");
    /* The engine says the same of a property. */
    if (between(message, "'", "' is read-only", &rest) && says(thrown->script, pawl__str("const ")))
        return pawl__str("Assignment to constant variable.");
    if (between(message, "", " is not initialized", &rest))
        return around(arena, "Cannot access '", rest, "' before initialization");
    return message;
}
