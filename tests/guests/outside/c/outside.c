/* The guest that reaches outside, in C; ../BEHAVIOURS.md says what each transition does. */
#include "wedflow.h"

static wed_text_t text(wed_job *job, const char *name) {
  wed_text_t content;
  return wed_file_read(job, name, &content, 0) ? content : wed_str("-");
}

static const char *truth(bool holds) { return holds ? "true" : "false"; }

static void files(wed_job *job) {
  wed_refusal why;
  wed_text_t absent = text(job, "absent"), sizes = wed_str("");
  wed_file_write(job, "log", wed_str("a"), 0);
  wed_file_append(job, "log", wed_str("ü"), 0);
  wed_text_t log = text(job, "log"), before = text(job, "before");
  bool once = wed_file_remove(job, "before", 0), twice = wed_file_remove(job, "before", 0);
  wed_files all = wed_file_all(job, 0);
  for (size_t n = 0; n < all.length; n++)
    sizes = wed_format("%t%s%t=%l", sizes, n ? "," : "", all.at[n].name, (int64_t)all.at[n].size);
  wed_file_write(job, "../x", wed_str(""), &why);
  wed_set_text(job, "a_text", wed_format("%t|%t|%t|%s %s|%t|%s", absent, log, before, truth(once), truth(twice), sizes,
                                         why.refused && why.kind == WED_FILE_NAME ? "name" : "another"));
}

static void files_unhandled(wed_job *job) {
  wed_file_write(job, "x", wed_str(""), 0);
  wed_set_text(job, "a_text", wed_str("written"));
}

static wed_text_t header(const wed_response *response, const char *name) {
  wed_text_t value;
  return wed_response_header(response, name, &value) ? value : wed_str("-");
}

static void http(wed_job *job) {
  wed_text_t key = wed_key();
  wed_header headers[] = {wed_header_secret("authorization", "Bearer ", "api_key"),
                          {.name = wed_str("idempotency-key"), .value = key}};
  wed_request charge = {.method = "POST", .url = "https://pay.example/charge", .headers = headers, .header_count = 2,
                        .body = wed_str("ü")};
  wed_response response;
  if (!wed_fetch(job, &charge, &response, 0)) return;
  wed_request slow = {.url = "https://pay.example/slow"};
  wed_response none;
  wed_refusal why;
  bool answered = wed_fetch(job, &slow, &none, &why);
  wed_set_text(job, "a_text", wed_format("%u|%t|%t|%t|%t|%s", (uint32_t)response.status, header(&response, "receipt"),
                                         header(&response, "absent"), response.body, key,
                                         !answered && why.kind == WED_HTTP_TIMED_OUT ? "timed-out" : "another"));
}

static void http_unhandled(wed_job *job) {
  wed_request request = {.url = "https://pay.example/"};
  wed_response response;
  if (wed_fetch(job, &request, &response, 0)) wed_set_text(job, "a_text", response.body);
}

#define TEXT WED_ATTRIBUTES({"a_text", "text"})

WED_COMPONENT("outside",
  {.name = "files", .run = files, .reads = WED_NONE, .writes = TEXT},
  {.name = "files_unhandled", .run = files_unhandled, .reads = WED_NONE, .writes = TEXT},
  {.name = "http", .run = http, .reads = WED_NONE, .writes = TEXT},
  {.name = "http_unhandled", .run = http_unhandled, .reads = WED_NONE, .writes = TEXT});
