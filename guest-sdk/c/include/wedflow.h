/* Write Wedflow transitions in C. One header, no library: include it in one file of the component.
 *
 *   #include "wedflow.h"
 *
 *   static void confirm(wed_job *job) {
 *     int32_t quantity = wed_integer(job, "quantity");
 *     if (quantity < 1) {
 *       wed_fail(job, wed_str("the order is empty"));
 *       return;
 *     }
 *     wed_set_text(job, "status", wed_str("confirmed"));
 *     wed_set_sql(job, "quantity", "quantity - 1");
 *   }
 *
 *   WED_COMPONENT("orders",
 *     {.name = "tr_confirm", .run = confirm,
 *      .reads = WED_ATTRIBUTES({"quantity", "integer"}),
 *      .writes = WED_ATTRIBUTES({"status", "text"}, {"quantity", "integer"})})
 *
 * Built with
 *
 *   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -Wl,-z,stack-size=65536 -o orders.core.wasm orders.c
 *   wed component encode orders.core.wasm -o orders.wasm
 *
 * A mistake (an attribute that is null or of another type than asked for, or that is not declared) is
 * remembered in the job; the first one becomes the answer, a failure that is not retried, whatever the
 * function does after it. So nothing has to be checked at each call; wed_failed tells.
 *
 * Each call has a fresh instance of the component: memory is handed out in order and never freed, and
 * global variables begin anew.
 */
#ifndef WEDFLOW_H
#define WEDFLOW_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WED_SDK "c 0.1.0"

/* ---- Values. Laid out as the component model's canonical ABI has them, so that nothing is copied. ---- */

/* Text, UTF-8, not ended by a zero. */
typedef struct {
  const char *at;
  size_t length;
} wed_text_t;

enum {
  WED_NULL, WED_TEXT, WED_INTEGER, WED_BIGINT, WED_NUMERIC, WED_FLOAT, WED_BOOLEAN,
  WED_TIMESTAMPTZ, WED_DATE, WED_INTERVAL, WED_UUID, WED_JSONB
};

/* A value without structure. */
typedef struct {
  uint8_t kind; /* WED_NULL, WED_TEXT, … */
  union {
    wed_text_t text;     /* text, numeric, interval, uuid, jsonb */
    int32_t integer;     /* integer; date: days since 1970-01-01 */
    int64_t bigint;      /* bigint; timestamptz: microseconds since 1970-01-01T00:00:00Z */
    double floating;     /* float */
    uint8_t boolean;     /* boolean */
  };
} wed_scalar;

typedef struct {
  const wed_scalar *at;
  size_t length;
} wed_list;

/* The value of an attribute: a scalar, or an array of them. */
typedef struct {
  uint8_t is_list;
  union {
    wed_scalar scalar;
    wed_list list;
  };
} wed_value;

/* ---- What a component says of itself ---- */

/* An attribute that a transition reads or writes: its name, and its type as in wed_attr.atype (`text`,
 * `integer`, `numeric[]`, …), or `any`. */
typedef struct {
  const char *name, *kind;
} wed_attribute;

/* A list of attributes; one that is left out means: reads every attribute of the flow, or may return a
 * SET clause over any. WED_NONE: none at all. */
typedef struct {
  const wed_attribute *at;
  size_t length;
} wed_attributes;

#define WED_ATTRIBUTES(...) \
  {(const wed_attribute[]){__VA_ARGS__}, sizeof((const wed_attribute[]){__VA_ARGS__}) / sizeof(wed_attribute)}
#define WED_NONE {(const wed_attribute *)sizeof(void *), 0}

typedef struct wed_job wed_job;

/* A transition. */
typedef struct {
  const char *name;        /* as in wed_trig.trname */
  void (*run)(wed_job *);
  const char *description; /* in a sentence; may be left out */
  wed_attributes reads, writes;
  const char *condition;   /* a WED-condition that suits it, as a suggestion */
  uint64_t timeout_ms;     /* a time limit that suits it, as a suggestion */
  uint64_t fuel, memory;   /* the most a call needs; the server's limits hold where they are lower */
} wed_transition;

/* ---- A call ---- */

struct wed_answer { /* the contract's `outcome` */
  uint8_t kind;     /* 0 SET clause, 1 assignments, 2 abort, 3 fail */
  union {
    struct {
      wed_text_t text;
      union {
        uint8_t retry;
        struct { uint8_t has_after; uint64_t after; };
      };
    };
    wed_list assignments;
  };
};

typedef struct { /* the contract's `assignment` */
  uint32_t attribute;
  wed_value value;
} wed_assignment;

/* What a transition is called with, and its answer in the making. */
struct wed_job {
  wed_text_t flow;       /* the flow's name */
  int32_t wid;           /* the instance */
  wed_text_t trigger;    /* the trigger that fired, by name; its number where it has none */
  wed_text_t transition;
  uint32_t attempt;      /* 1 for the first */
  int64_t deadline;      /* when the time limit ends: microseconds since 1970-01-01T00:00:00Z */
  const wed_value *state;
  size_t attributes;     /* values in `state` */
  /* The SDK's own. */
  const wed_transition *what;
  wed_text_t *names;     /* those of the state, when the transition reads every attribute */
  const char **sql;      /* of each assignment its expression, or none */
  wed_assignment *set;
  size_t sets, room;
  wed_text_t clause;
  struct wed_answer answer;
  bool ended;
};

enum { WED_DEBUG, WED_INFO, WED_WARN, WED_ERROR };

/* A named value beside a log line. */
typedef struct {
  wed_text_t key, value;
} wed_field;

/* ---- The host. Times are microseconds; see the contract for each. ---- */

#define WED_IMPORT(interface, name) \
  __attribute__((import_module("wed:flow/" interface "@0.1.0"), import_name(name)))
#define WED_HOST(name) WED_IMPORT("host", name)
WED_HOST("log") extern void wed_host_log(int32_t, const char *, size_t, const wed_field *, size_t);
WED_HOST("now") extern int64_t wed_now(void);
WED_HOST("random") extern uint64_t wed_random(void);
WED_HOST("sleep") extern void wed_sleep(uint64_t microseconds);
WED_HOST("config") extern void wed_host_config(const char *, size_t, void *);
WED_HOST("secret") extern void wed_host_secret(const char *, size_t, void *);
WED_HOST("attributes") extern void wed_host_attributes(void *);
WED_IMPORT("files", "read") extern void wed_files_read(const char *, size_t, void *);
WED_IMPORT("files", "write") extern void wed_files_write(const char *, size_t, const char *, size_t, void *);
WED_IMPORT("files", "append") extern void wed_files_append(const char *, size_t, const char *, size_t, void *);
WED_IMPORT("files", "remove") extern void wed_files_remove(const char *, size_t, void *);
WED_IMPORT("files", "all") extern void wed_files_all(void *);
WED_IMPORT("http", "fetch") extern void wed_http_fetch(const char *, size_t, const char *, size_t, const void *,
                                                       size_t, const char *, size_t, void *);
WED_IMPORT("http", "key") extern void wed_http_key(wed_text_t *);

/* ---- Memory ---- */

extern unsigned char __heap_base;
static size_t wed_heap;

/* `bytes` of memory, zero, aligned to 16; traps when there is none left. */
static void *wed_alloc(size_t bytes) {
  if (wed_heap == 0) wed_heap = (size_t)&__heap_base;
  size_t start = (wed_heap + 15) & ~(size_t)15, end = start + bytes;
  size_t have = __builtin_wasm_memory_size(0) * (size_t)65536;
  if (end < start) __builtin_trap();
  if (end > have) {
    size_t pages = (end - have + 65535) / 65536;
    if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1) __builtin_trap();
  }
  wed_heap = end;
  return (void *)start;
}

#ifndef WED_LIBC /* define it when linking with a C library */
void *memcpy(void *restrict to, const void *restrict from, size_t n) {
  unsigned char *t = to;
  const unsigned char *f = from;
  while (n--) *t++ = *f++;
  return to;
}
void *memset(void *at, int byte, size_t n) {
  unsigned char *t = at;
  while (n--) *t++ = (unsigned char)byte;
  return at;
}
size_t strlen(const char *text) {
  size_t n = 0;
  while (text[n]) n++;
  return n;
}
int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a, *y = b;
  for (; n--; x++, y++)
    if (*x != *y) return *x < *y ? -1 : 1;
  return 0;
}
#else
#include <string.h>
#endif

/* ---- Text ---- */

/* The text of a C string. */
static inline wed_text_t wed_str(const char *text) { return (wed_text_t){text, text ? strlen(text) : 0}; }

static inline bool wed_equal(wed_text_t a, wed_text_t b) {
  return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

struct wed_buffer {
  char *at;
  size_t length, room;
};

static inline void wed_put(struct wed_buffer *buffer, const char *text, size_t length) {
  if (buffer->length + length > buffer->room) {
    size_t room = (buffer->length + length) * 2 + 64;
    char *at = wed_alloc(room);
    if (buffer->length) memcpy(at, buffer->at, buffer->length);
    buffer->at = at;
    buffer->room = room;
  }
  if (length) memcpy(buffer->at + buffer->length, text, length);
  buffer->length += length;
}

static inline void wed_put_number(struct wed_buffer *buffer, int64_t number) {
  char digits[20];
  size_t n = 0;
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  do digits[sizeof digits - ++n] = (char)('0' + rest % 10);
  while (rest /= 10);
  if (number < 0) wed_put(buffer, "-", 1);
  wed_put(buffer, digits + sizeof digits - n, n);
}

/* Text with values in it: %s a C string, %t a wed_text_t, %d an int32_t, %u a uint32_t, %l an int64_t,
 * %q a wed_text_t as a SQL literal, %% the character. */
static wed_text_t wed_format(const char *format, ...) {
  struct wed_buffer out = {0, 0, 0};
  va_list arguments;
  va_start(arguments, format);
  for (; *format; format++) {
    if (*format != '%') {
      wed_put(&out, format, 1);
      continue;
    }
    switch (*++format) {
    case 's': {
      const char *text = va_arg(arguments, const char *);
      wed_put(&out, text, strlen(text));
      break;
    }
    case 't': {
      wed_text_t text = va_arg(arguments, wed_text_t);
      wed_put(&out, text.at, text.length);
      break;
    }
    case 'd': wed_put_number(&out, va_arg(arguments, int32_t)); break;
    case 'u': wed_put_number(&out, va_arg(arguments, uint32_t)); break;
    case 'l': wed_put_number(&out, va_arg(arguments, int64_t)); break;
    case 'q': {
      wed_text_t text = va_arg(arguments, wed_text_t);
      wed_put(&out, "'", 1);
      for (size_t n = 0; n < text.length; n++) {
        if (text.at[n] == '\'') wed_put(&out, "'", 1);
        wed_put(&out, text.at + n, 1);
      }
      wed_put(&out, "'", 1);
      break;
    }
    case '\0': format--; break;
    default: wed_put(&out, format, 1);
    }
  }
  va_end(arguments);
  return (wed_text_t){out.at, out.length};
}

/* ---- What else the host offers ---- */

/* Writes a log line, kept with the attempt. */
static inline void wed_log(int severity, wed_text_t message) {
  wed_host_log(severity, message.at, message.length, (const wed_field *)sizeof(void *), 0);
}
/* The same with named values: wed_log_with(WED_INFO, wed_str("moved"), 2, (wed_field[]){…}). */
static inline void wed_log_with(int severity, wed_text_t message, size_t count, const wed_field *fields) {
  wed_host_log(severity, message.at, message.length, fields, count);
}

/* An option<string> as the host returns it. */
struct wed_found {
  uint8_t some;
  wed_text_t text;
};

/* A setting of the flow; false when it has not been set. */
static inline bool wed_config(const char *key, wed_text_t *value) {
  struct wed_found found;
  wed_host_config(key, strlen(key), &found);
  if (found.some) *value = found.text;
  return found.some;
}

/* A secret of the flow; false when there is none or it has not been granted to this transition. */
static inline bool wed_secret(const char *name, wed_text_t *value) {
  struct wed_found found;
  wed_host_secret(name, strlen(name), &found);
  if (found.some) *value = found.text;
  return found.some;
}

/* Ends the call as a trap, with a log line that says why. */
__attribute__((noreturn)) static inline void wed_panic(wed_text_t message) {
  wed_log(WED_ERROR, message);
  __builtin_trap();
}

/* ---- Ending ---- */

static inline void wed_end(wed_job *job, struct wed_answer answer) {
  if (job->ended) return; /* the first counts */
  job->answer = answer;
  job->ended = true;
}

/* Whether the call has ended already: by one of the functions below, or by a mistake. */
static inline bool wed_failed(const wed_job *job) { return job->ended; }

/* Not now: nothing is committed and it is tried again after the trigger's backoff. */
static inline void wed_abort(wed_job *job, wed_text_t reason) {
  wed_end(job, (struct wed_answer){.kind = 2, .text = reason, .has_after = 0});
}
/* Not now, but after so many microseconds. */
static inline void wed_abort_after(wed_job *job, uint64_t microseconds, wed_text_t reason) {
  wed_end(job, (struct wed_answer){.kind = 2, .text = reason, .has_after = 1, .after = microseconds});
}
/* It failed and no further attempt mends that: the instance becomes an exception. */
static inline void wed_fail(wed_job *job, wed_text_t message) {
  wed_end(job, (struct wed_answer){.kind = 3, .text = message, .retry = 0});
}
/* It failed, and another attempt may succeed. */
static inline void wed_retry(wed_job *job, wed_text_t message) {
  wed_end(job, (struct wed_answer){.kind = 3, .text = message, .retry = 1});
}

/* ---- Files and HTTP, where the operator and the flow grant them ---- */

/* What was refused, and why. Every function below takes the place of one as its last argument: given one, it
 * says there what went wrong, and the transition continues; given none (0), the call ends as failed, to be
 * tried again where that may help, and nothing has to be checked. */
typedef struct {
  bool refused;
  uint8_t kind;       /* of a file WED_FILE_…, of a request WED_HTTP_… */
  wed_text_t message; /* for a person */
} wed_refusal;

enum { WED_FILE_DENIED, WED_FILE_NAME, WED_FILE_NO_ROOM, WED_FILE_UNAVAILABLE };
enum { WED_HTTP_DENIED, WED_HTTP_INVALID, WED_HTTP_TOO_LARGE, WED_HTTP_UNREACHABLE, WED_HTTP_TIMED_OUT };

/* The contract's `result`: what is asked for, or a record of kind and message. */
struct wed_result {
  uint8_t refused;
  union {
    struct { uint8_t some; wed_text_t content; };
    struct { const void *list; size_t length; };
    struct { uint8_t kind; wed_text_t message; };
    struct { uint16_t status; struct { const void *at; size_t length; } headers; wed_text_t body; };
  };
};

static bool wed_granted(wed_job *job, const struct wed_result *result, int retry_from, wed_refusal *why) {
  if (why) *why = (wed_refusal){.refused = result->refused};
  if (!result->refused) return true;
  if (why) {
    why->kind = result->kind;
    why->message = result->message;
  } else if (result->kind >= retry_from) {
    wed_retry(job, result->message);
  } else {
    wed_fail(job, result->message);
  }
  return false;
}

/* A file of the instance, as listed. */
typedef struct {
  wed_text_t name;
  uint64_t size; /* in bytes */
} wed_file;

typedef struct {
  const wed_file *at;
  size_t length;
} wed_files;

/* The content of a file; false when there is no such file. */
static inline bool wed_file_read(wed_job *job, const char *name, wed_text_t *content, wed_refusal *why) {
  struct wed_result result;
  wed_files_read(name, strlen(name), &result);
  if (!wed_granted(job, &result, WED_FILE_UNAVAILABLE, why) || !result.some) return false;
  *content = result.content;
  return true;
}
/* Makes a file, or replaces its content: at most 1 MiB. */
static inline bool wed_file_write(wed_job *job, const char *name, wed_text_t content, wed_refusal *why) {
  struct wed_result result;
  wed_files_write(name, strlen(name), content.at, content.length, &result);
  return wed_granted(job, &result, WED_FILE_UNAVAILABLE, why);
}
/* Puts more behind a file's content, or makes the file. */
static inline bool wed_file_append(wed_job *job, const char *name, wed_text_t content, wed_refusal *why) {
  struct wed_result result;
  wed_files_append(name, strlen(name), content.at, content.length, &result);
  return wed_granted(job, &result, WED_FILE_UNAVAILABLE, why);
}
/* Removes a file; whether there was one. */
static inline bool wed_file_remove(wed_job *job, const char *name, wed_refusal *why) {
  struct wed_result result;
  wed_files_remove(name, strlen(name), &result);
  return wed_granted(job, &result, WED_FILE_UNAVAILABLE, why) && result.some;
}
/* All files, by name. */
static inline wed_files wed_file_all(wed_job *job, wed_refusal *why) {
  struct wed_result result;
  wed_files_all(&result);
  if (!wed_granted(job, &result, WED_FILE_UNAVAILABLE, why)) return (wed_files){0, 0};
  return (wed_files){result.list, result.length};
}

/* A header of a request; made by the two functions below. */
typedef struct {
  wed_text_t name, value;
  uint8_t has_secret;
  wed_text_t secret;
} wed_header;

static inline wed_header wed_header_of(const char *name, const char *value) {
  return (wed_header){.name = wed_str(name), .value = wed_str(value)};
}
/* A header whose value ends with a secret of the flow, which the server puts there: the transition need not
 * know it. wed_header_secret("authorization", "Bearer ", "api-key") */
static inline wed_header wed_header_secret(const char *name, const char *value, const char *secret) {
  return (wed_header){wed_str(name), wed_str(value), 1, wed_str(secret)};
}

/* A request: method in capitals (GET when left out), URL with scheme and host; the rest may be left out. */
typedef struct {
  const char *method, *url;
  const wed_header *headers;
  size_t header_count;
  wed_text_t body;
} wed_request;

/* A header of an answer, its name in small letters. */
typedef struct {
  wed_text_t name, value;
} wed_pair;

/* An answer, whatever its status. */
typedef struct {
  uint16_t status;
  const wed_pair *headers;
  size_t header_count;
  wed_text_t body;
} wed_response;

/* Sends a request and waits for the answer; the time counts against the timeout. It happens at least once, not
 * exactly once: send wed_key() along where the other side can tell repetitions by it. False when there is no
 * answer. */
static inline bool wed_fetch(wed_job *job, const wed_request *request, wed_response *response, wed_refusal *why) {
  struct wed_result result;
  wed_text_t method = wed_str(request->method ? request->method : "GET"), url = wed_str(request->url);
  wed_http_fetch(method.at, method.length, url.at, url.length, request->headers, request->header_count,
                 request->body.at, request->body.length, &result);
  if (!wed_granted(job, &result, WED_HTTP_UNREACHABLE, why)) return false;
  *response = (wed_response){result.status, result.headers.at, result.headers.length, result.body};
  return true;
}

/* The value of a header, by its name in small letters; false when there is none. */
static inline bool wed_response_header(const wed_response *response, const char *name, wed_text_t *value) {
  for (size_t n = 0; n < response->header_count; n++)
    if (wed_equal(response->headers[n].name, wed_str(name))) {
      *value = response->headers[n].value;
      return true;
    }
  return false;
}

/* Names what fired this transition: the same in every attempt at it, another in every other firing. */
static inline wed_text_t wed_key(void) {
  wed_text_t key;
  wed_http_key(&key);
  return key;
}

/* ---- Reading ---- */

static const char *const wed_kinds[] = {"null", "text", "integer", "bigint", "numeric", "float", "boolean",
                                        "timestamptz", "date", "interval", "uuid", "jsonb"};

/* The name of an attribute in the state, by its position. */
static inline wed_text_t wed_name(wed_job *job, size_t position) {
  if (job->what->reads.at) return wed_str(job->what->reads.at[position].name);
  if (!job->names) {
    struct {
      wed_text_t *at;
      size_t length;
    } names;
    wed_host_attributes(&names);
    job->names = names.at;
  }
  return job->names[position];
}

/* The value of an attribute, whatever its type; a mistake when the transition does not read it. */
static const wed_value *wed_get(wed_job *job, const char *attribute) {
  static const wed_value null;
  wed_text_t wanted = wed_str(attribute);
  for (size_t n = 0; n < job->attributes; n++)
    if (wed_equal(wed_name(job, n), wanted)) return &job->state[n];
  wed_fail(job, wed_format("attribute `%s` is not among those that the transition reads", attribute));
  return &null;
}

/* Whether an attribute is null. */
static inline bool wed_is_null(wed_job *job, const char *attribute) {
  const wed_value *value = wed_get(job, attribute);
  return !value->is_list && value->scalar.kind == WED_NULL;
}

static const wed_scalar *wed_get_kind(wed_job *job, const char *attribute, int kind) {
  static const wed_scalar nothing;
  const wed_value *value = wed_get(job, attribute);
  if (!value->is_list && value->scalar.kind == kind) return &value->scalar;
  wed_fail(job, wed_format("attribute `%s` is %s where the transition reads %s", attribute,
                           value->is_list ? "an array" : wed_kinds[value->scalar.kind], wed_kinds[kind]));
  return &nothing;
}

/* The value of an attribute that is not null and has this type; else a mistake, and nothing or zero. */
static inline wed_text_t wed_text(wed_job *job, const char *a) { return wed_get_kind(job, a, WED_TEXT)->text; }
static inline int32_t wed_integer(wed_job *job, const char *a) { return wed_get_kind(job, a, WED_INTEGER)->integer; }
static inline int64_t wed_bigint(wed_job *job, const char *a) { return wed_get_kind(job, a, WED_BIGINT)->bigint; }
static inline wed_text_t wed_numeric(wed_job *job, const char *a) { return wed_get_kind(job, a, WED_NUMERIC)->text; }
static inline double wed_float(wed_job *job, const char *a) { return wed_get_kind(job, a, WED_FLOAT)->floating; }
static inline bool wed_boolean(wed_job *job, const char *a) { return wed_get_kind(job, a, WED_BOOLEAN)->boolean; }
static inline int64_t wed_timestamptz(wed_job *job, const char *a) { return wed_get_kind(job, a, WED_TIMESTAMPTZ)->bigint; }
static inline int32_t wed_date(wed_job *job, const char *a) { return wed_get_kind(job, a, WED_DATE)->integer; }
static inline wed_text_t wed_interval(wed_job *job, const char *a) { return wed_get_kind(job, a, WED_INTERVAL)->text; }
static inline wed_text_t wed_uuid(wed_job *job, const char *a) { return wed_get_kind(job, a, WED_UUID)->text; }
static inline wed_text_t wed_jsonb(wed_job *job, const char *a) { return wed_get_kind(job, a, WED_JSONB)->text; }
static inline wed_list wed_array(wed_job *job, const char *attribute) {
  const wed_value *value = wed_get(job, attribute);
  if (value->is_list) return value->list;
  wed_fail(job, wed_format("attribute `%s` is %s where the transition reads an array", attribute,
                           wed_kinds[value->scalar.kind]));
  return (wed_list){0, 0};
}

/* ---- Setting ---- */

/* Whether a value of this type goes into an attribute declared as `kind`. */
static inline bool wed_kind_fits(int scalar, const char *kind, size_t length) {
  wed_text_t declared = {kind, length};
  if (scalar == WED_NULL || wed_equal(declared, wed_str("any"))) return true;
  if (scalar == WED_TEXT && length > 5 && memcmp(kind, "enum(", 5) == 0) return true;
  return wed_equal(declared, wed_str(wed_kinds[scalar]));
}

static void wed_add(wed_job *job, const char *attribute, wed_value value, const char *sql) {
  const wed_attributes *writes = &job->what->writes;
  size_t at = 0;
  if (writes->at) {
    while (at < writes->length && !wed_equal(wed_str(writes->at[at].name), wed_str(attribute))) at++;
    if (at == writes->length) {
      wed_fail(job, wed_format("attribute `%s` is not among those that the transition declares to write", attribute));
      return;
    }
    const char *kind = writes->at[at].kind;
    size_t length = strlen(kind);
    bool array = length > 2 && memcmp(kind + length - 2, "[]", 2) == 0, fits = true;
    bool any = wed_equal(wed_str(kind), wed_str("any"));
    if (!sql && value.is_list) {
      fits = any || array;
      for (size_t n = 0; fits && n < value.list.length; n++)
        fits = any || wed_kind_fits(value.list.at[n].kind, kind, length - 2);
    } else if (!sql) {
      fits = value.scalar.kind == WED_NULL || (!array && wed_kind_fits(value.scalar.kind, kind, length));
    }
    if (!fits) {
      wed_fail(job, wed_format("attribute `%s` is declared as %s and was assigned %s", attribute, kind,
                               value.is_list ? "another array" : wed_kinds[value.scalar.kind]));
      return;
    }
  } else {
    wed_fail(job, wed_format("attribute `%s` cannot be set by itself: the transition declares no writes, so it "
                             "returns a whole clause (wed_clause)", attribute));
    return;
  }
  size_t n = 0;
  while (n < job->sets && job->set[n].attribute != at) n++; /* a second value replaces the first */
  if (n == job->room) {
    size_t room = job->room * 2 + 8;
    wed_assignment *set = wed_alloc(room * sizeof *set);
    const char **expressions = wed_alloc(room * sizeof *expressions);
    if (n) {
      memcpy(set, job->set, n * sizeof *set);
      memcpy(expressions, job->sql, n * sizeof *expressions);
    }
    job->set = set;
    job->sql = expressions;
    job->room = room;
  }
  job->set[n] = (wed_assignment){(uint32_t)at, value};
  job->sql[n] = sql;
  if (n == job->sets) job->sets++;
}

/* Sets an attribute to a value of any type. */
static inline void wed_set(wed_job *job, const char *attribute, wed_value value) { wed_add(job, attribute, value, 0); }
/* Sets an attribute to a SQL expression of the current state: "n + 1". Never build it from values. */
static inline void wed_set_sql(wed_job *job, const char *attribute, const char *sql) {
  wed_add(job, attribute, (wed_value){0}, sql);
}
#define WED_SCALAR(...) ((wed_value){.is_list = 0, .scalar = {__VA_ARGS__}})
static inline void wed_set_null(wed_job *job, const char *a) { wed_set(job, a, WED_SCALAR(.kind = WED_NULL)); }
static inline void wed_set_text(wed_job *job, const char *a, wed_text_t v) { wed_set(job, a, WED_SCALAR(.kind = WED_TEXT, .text = v)); }
static inline void wed_set_integer(wed_job *job, const char *a, int64_t v) {
  if (v < INT32_MIN || v > INT32_MAX)
    wed_fail(job, wed_format("attribute `%s` is an integer, and %l is out of its range", a, v));
  wed_set(job, a, WED_SCALAR(.kind = WED_INTEGER, .integer = (int32_t)v));
}
static inline void wed_set_bigint(wed_job *job, const char *a, int64_t v) { wed_set(job, a, WED_SCALAR(.kind = WED_BIGINT, .bigint = v)); }
static inline void wed_set_numeric(wed_job *job, const char *a, wed_text_t v) { wed_set(job, a, WED_SCALAR(.kind = WED_NUMERIC, .text = v)); }
static inline void wed_set_float(wed_job *job, const char *a, double v) { wed_set(job, a, WED_SCALAR(.kind = WED_FLOAT, .floating = v)); }
static inline void wed_set_boolean(wed_job *job, const char *a, bool v) { wed_set(job, a, WED_SCALAR(.kind = WED_BOOLEAN, .boolean = v)); }
static inline void wed_set_timestamptz(wed_job *job, const char *a, int64_t v) { wed_set(job, a, WED_SCALAR(.kind = WED_TIMESTAMPTZ, .bigint = v)); }
static inline void wed_set_date(wed_job *job, const char *a, int32_t v) { wed_set(job, a, WED_SCALAR(.kind = WED_DATE, .integer = v)); }
static inline void wed_set_interval(wed_job *job, const char *a, wed_text_t v) { wed_set(job, a, WED_SCALAR(.kind = WED_INTERVAL, .text = v)); }
static inline void wed_set_uuid(wed_job *job, const char *a, wed_text_t v) { wed_set(job, a, WED_SCALAR(.kind = WED_UUID, .text = v)); }
static inline void wed_set_jsonb(wed_job *job, const char *a, wed_text_t v) { wed_set(job, a, WED_SCALAR(.kind = WED_JSONB, .text = v)); }
static inline void wed_set_array(wed_job *job, const char *a, const wed_scalar *at, size_t length) {
  wed_set(job, a, (wed_value){.is_list = 1, .list = {at, length}});
}

/* The answer is this SQL SET clause, without the word SET. Values go in with wed_format's %q. */
static inline void wed_clause(wed_job *job, wed_text_t clause) { job->clause = clause; }

/* ---- The component ---- */

/* A number with at least so many digits. */
static inline void wed_put_padded(struct wed_buffer *out, int64_t number, int digits) {
  for (int64_t below = 10; digits > 1; digits--, below *= 10)
    if (number < below) wed_put(out, "0", 1);
  wed_put_number(out, number);
}

/* A day as Postgres reads it, in the Gregorian calendar; the suffix for the years before the first is left to
 * the caller. By Howard Hinnant's days_from_civil, turned round. */
static inline bool wed_put_day(struct wed_buffer *out, int64_t days) {
  days += 719468;
  int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  int64_t of_era = days - era * 146097;
  int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  int64_t month = (5 * of_year + 2) / 153;
  int64_t day = of_year - (153 * month + 2) / 5 + 1;
  month += month < 10 ? 3 : -9;
  year += era * 400 + (month <= 2);
  bool before = year <= 0;
  wed_put_padded(out, before ? 1 - year : year, 4);
  wed_put(out, "-", 1);
  wed_put_padded(out, month, 2);
  wed_put(out, "-", 1);
  wed_put_padded(out, day, 2);
  return before;
}

static inline void wed_put_timestamp(struct wed_buffer *out, int64_t micros) {
  int64_t days = micros / 86400000000, rest = micros % 86400000000;
  if (rest < 0) days--, rest += 86400000000;
  bool before = wed_put_day(out, days);
  const char *marks = "T::.";
  for (int64_t unit = 3600000000; unit > 0; unit = unit == 1000000 ? 1 : unit / 60) {
    wed_put(out, marks++, 1);
    wed_put_padded(out, rest / unit, unit == 1 ? 6 : 2);
    rest %= unit;
  }
  wed_put(out, "+00:00", 6);
  if (before) wed_put(out, " BC", 3);
}

/* A float to 17 digits, correctly rounded, so that reading it gives the same float. Its digits are computed
 * exactly, in limbs of nine. */
static inline void wed_put_float(struct wed_buffer *out, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint64_t mantissa = bits & 0xfffffffffffff;
  int power = (int)(bits >> 52 & 0x7ff);
  if (bits >> 63 && !(power == 0x7ff && mantissa)) wed_put(out, "-", 1);
  if (power == 0x7ff) {
    wed_put(out, mantissa ? "NaN" : "Infinity", mantissa ? 3 : 8);
    return;
  }
  if (power) mantissa |= (uint64_t)1 << 52;
  power = (power ? power : 1) - 1075;
  uint32_t limb[96] = {(uint32_t)(mantissa % 1000000000), (uint32_t)(mantissa / 1000000000)};
  int limbs = 2, ten = power < 0 ? power : 0;
  /* mantissa * 2^-n is mantissa * 5^n / 10^n. */
  for (int left = power < 0 ? -power : power; left > 0; left--) {
    uint64_t carry = 0;
    for (int n = 0; n < limbs; n++) {
      carry += (uint64_t)limb[n] * (power < 0 ? 5 : 2);
      limb[n] = (uint32_t)(carry % 1000000000);
      carry /= 1000000000;
    }
    if (carry) limb[limbs++] = (uint32_t)carry;
  }
  char digits[96 * 9];
  int count = 0;
  for (int n = limbs - 1; n >= 0; n--)
    for (uint32_t unit = 100000000; unit; unit /= 10) {
      char digit = (char)('0' + limb[n] / unit % 10);
      if (count || digit != '0') digits[count++] = digit;
    }
  if (count > 17) {
    ten += count - 17;
    bool up = digits[17] > '5', exact = digits[17] == '5' && !(digits[16] & 1);
    for (int n = 18; n < count; n++) exact &= digits[n] == '0';
    up |= digits[17] == '5' && !exact;
    count = 17;
    for (int n = 16; up; n--) {
      if (n < 0) {
        digits[0] = '1'; /* 99…9 became 100…0 */
        ten++;
        break;
      }
      up = digits[n] == '9';
      digits[n] = up ? '0' : (char)(digits[n] + 1);
    }
  }
  if (!count) {
    digits[count++] = '0';
    ten = 0;
  }
  wed_put(out, digits, (size_t)count);
  wed_put(out, "e", 1);
  wed_put_number(out, ten);
}

/* A value as a SQL literal. */
static inline void wed_put_scalar(struct wed_buffer *out, const wed_scalar *value) {
  wed_text_t sql;
  switch (value->kind) {
  case WED_NULL: sql = wed_str("NULL"); break;
  case WED_TEXT: sql = wed_format("%q", value->text); break;
  case WED_INTEGER: sql = wed_format("%d", value->integer); break;
  case WED_BIGINT: sql = wed_format("%l", value->bigint); break;
  case WED_BOOLEAN: sql = wed_str(value->boolean ? "TRUE" : "FALSE"); break;
  case WED_NUMERIC: case WED_INTERVAL: case WED_UUID: case WED_JSONB:
    sql = wed_format("%q::%s", value->text, wed_kinds[value->kind]);
    break;
  default: {
    /* The least and the greatest day and moment stand for the infinities. */
    struct wed_buffer text = {0, 0, 0};
    if (value->kind == WED_FLOAT) {
      wed_put_float(&text, value->floating);
    } else {
      bool date = value->kind == WED_DATE;
      int64_t at = date ? value->integer : value->bigint;
      if (at == (date ? INT32_MAX : INT64_MAX)) wed_put(&text, "infinity", 8);
      else if (at == (date ? INT32_MIN : INT64_MIN)) wed_put(&text, "-infinity", 9);
      else if (!date) wed_put_timestamp(&text, at);
      else if (wed_put_day(&text, at)) wed_put(&text, " BC", 3);
    }
    sql = wed_format("'%t'::%s", ((wed_text_t){text.at, text.length}), wed_kinds[value->kind]);
  }
  }
  wed_put(out, sql.at, sql.length);
}

/* Assignments with an expression among them: a SET clause. */
static inline wed_text_t wed_as_clause(wed_job *job) {
  struct wed_buffer out = {0, 0, 0};
  for (size_t n = 0; n < job->sets; n++) {
    const char *name = job->what->writes.at[job->set[n].attribute].name;
    const wed_value *value = &job->set[n].value;
    wed_put(&out, n ? ", \"" : "\"", n ? 3 : 1);
    for (const char *c = name; *c; c++) wed_put(&out, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    wed_put(&out, "\" = ", 4);
    if (job->sql[n]) {
      wed_put(&out, job->sql[n], strlen(job->sql[n]));
    } else if (value->is_list) {
      const char *kind = job->what->writes.at[job->set[n].attribute].kind;
      wed_put(&out, "ARRAY[", 6);
      for (size_t k = 0; k < value->list.length; k++) {
        if (k) wed_put(&out, ", ", 2);
        wed_put_scalar(&out, &value->list.at[k]);
      }
      wed_text_t cast = wed_format("]::%s", kind);
      wed_put(&out, cast.at, cast.length);
    } else {
      wed_put_scalar(&out, &value->scalar);
    }
  }
  return (wed_text_t){out.at, out.length};
}

static inline bool wed_holds_zero(wed_text_t text) {
  for (size_t n = 0; n < text.length; n++)
    if (!text.at[n]) return true;
  return false;
}

static inline void wed_finish(wed_job *job) {
  if (job->ended) return;
  bool sql = false;
  for (size_t n = 0; n < job->sets; n++) sql |= job->sql[n] != 0;
  if (job->clause.length == 0 && job->sets == 0) {
    wed_fail(job, wed_str("the transition set nothing; to commit nothing, abort"));
  } else if (job->clause.length || sql) {
    wed_text_t clause = job->clause.length ? job->clause : wed_as_clause(job);
    if (wed_holds_zero(clause)) wed_fail(job, wed_str("a text holds a NUL character, which Postgres cannot store"));
    wed_end(job, (struct wed_answer){.kind = 0, .text = clause});
  } else {
    wed_end(job, (struct wed_answer){.kind = 1, .assignments = {(const wed_scalar *)job->set, job->sets}});
  }
}

/* The contract's records, as `describe` returns them. */
struct wed_option_list {
  uint8_t some;
  const void *at;
  size_t length;
};
struct wed_option_number {
  uint8_t some;
  uint64_t number;
};
struct wed_described_attribute {
  wed_text_t name, kind;
};
struct wed_declaration {
  wed_text_t transition, description;
  struct wed_option_list reads, writes, condition;
  struct wed_option_number timeout, fuel, memory;
};
struct wed_manifest {
  wed_text_t name, sdk;
  const struct wed_declaration *at;
  size_t length;
};
_Static_assert(sizeof(wed_value) == 24 && sizeof(wed_assignment) == 32, "the canonical ABI");
_Static_assert(sizeof(struct wed_answer) == 32 && sizeof(struct wed_declaration) == 104, "the canonical ABI");
_Static_assert(sizeof(struct wed_result) == 24 && sizeof(wed_file) == 16 && sizeof(wed_header) == 28, "the canonical ABI");
_Static_assert(offsetof(struct wed_answer, has_after) == 16 && offsetof(struct wed_answer, after) == 24, "the canonical ABI");

static inline struct wed_option_list wed_describe_list(const wed_attributes *list) {
  if (!list->at) return (struct wed_option_list){0, 0, 0};
  struct wed_described_attribute *out = wed_alloc(list->length * sizeof *out + 1);
  for (size_t n = 0; n < list->length; n++)
    out[n] = (struct wed_described_attribute){wed_str(list->at[n].name), wed_str(list->at[n].kind)};
  return (struct wed_option_list){1, out, list->length};
}

static inline struct wed_option_number wed_describe_number(uint64_t number) {
  return (struct wed_option_number){number != 0, number};
}

static inline const struct wed_manifest *wed_describe(const char *name, const wed_transition *list, size_t count) {
  static struct wed_manifest manifest;
  struct wed_declaration *out = wed_alloc(count * sizeof *out);
  for (size_t n = 0; n < count; n++) {
    const wed_transition *one = &list[n];
    out[n] = (struct wed_declaration){
        wed_str(one->name), wed_str(one->description ? one->description : ""),
        wed_describe_list(&one->reads), wed_describe_list(&one->writes),
        {one->condition != 0, one->condition, one->condition ? strlen(one->condition) : 0},
        wed_describe_number(one->timeout_ms), wed_describe_number(one->fuel), wed_describe_number(one->memory)};
  }
  manifest = (struct wed_manifest){wed_str(name), wed_str(WED_SDK), out, count};
  return &manifest;
}

static inline const struct wed_answer *wed_run(wed_job *job, const wed_transition *list, size_t count) {
  for (size_t n = 0; n < count; n++) {
    if (!wed_equal(job->transition, wed_str(list[n].name))) continue;
    job->what = &list[n];
    job->what->run(job);
    wed_finish(job);
    return &job->answer;
  }
  wed_fail(job, wed_format("this component has no transition `%t`", job->transition));
  return &job->answer;
}

/* Makes the program a component: its name, and its transitions. Once in a component. */
#define WED_COMPONENT(component, ...)                                                                        \
  static const wed_transition wed_list_of_transitions[] = {__VA_ARGS__};                                     \
  enum { WED_COUNT = sizeof wed_list_of_transitions / sizeof *wed_list_of_transitions };                     \
  __attribute__((export_name("describe"))) const struct wed_manifest *wed_export_describe(void) {            \
    return wed_describe(component, wed_list_of_transitions, WED_COUNT);                                      \
  }                                                                                                          \
  __attribute__((export_name("run"))) const struct wed_answer *wed_export_run(                               \
      const char *flow, size_t flow_length, int32_t wid, const char *trigger, size_t trigger_length,         \
      const char *transition, size_t transition_length, uint32_t attempt, int64_t deadline,                  \
      const wed_value *state, size_t attributes) {                                                           \
    static wed_job job;                                                                                      \
    job = (wed_job){.flow = {flow, flow_length}, .wid = wid, .trigger = {trigger, trigger_length},           \
                    .transition = {transition, transition_length}, .attempt = attempt,                       \
                    .deadline = deadline, .state = state, .attributes = attributes};                         \
    return wed_run(&job, wed_list_of_transitions, WED_COUNT);                                                \
  }                                                                                                          \
  __attribute__((export_name("cabi_realloc"))) void *wed_export_realloc(void *block, size_t old,             \
                                                                        size_t align, size_t size) {         \
    if (size == 0) return (void *)align;                                                                     \
    void *moved = wed_alloc(size);                                                                           \
    if (old) memcpy(moved, block, old < size ? old : size);                                                  \
    return moved;                                                                                            \
  }                                                                                                          \
  _Static_assert(WED_COUNT > 0, "a component performs at least one transition")

#endif
