// What the mock upstream answers, in the shapes and sizes of OpenAI's own answers; made once, sent as they are.
#ifndef RIDEAU_MOCK_ANSWERS_H
#define RIDEAU_MOCK_ANSWERS_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG"
#define MODEL "gpt-4o-mini-2024-07-18"
#define REQUEST_ID "req_8f1d7a6b2c3e4f50a1b2c3d4e5f60718"
#define USAGE                                                               \
  "{\"prompt_tokens\":1117,\"completion_tokens\":46,\"total_tokens\":1163," \
  "\"prompt_tokens_details\":{\"cached_tokens\":0,\"audio_tokens\":0},"     \
  "\"completion_tokens_details\":{\"reasoning_tokens\":0,\"audio_tokens\":0}}"
#define CHUNK_HEAD                                                                                                    \
  "data: {\"id\":\"" ID "\",\"object\":\"chat.completion.chunk\",\"created\":1741570283,\"model\":\"" MODEL "\","     \
  "\"service_tier\":\"default\",\"system_fingerprint\":\"fp_fc9f1d7035\",\"choices\":"

enum { TOKENS = 64, FINAL_FRAMES = 3 };

struct bytes {
  char *at;
  long length;
};

static struct bytes chat_answer, embeddings_answer, models_answer, not_found_answer, stream_head;
static struct bytes tokens[TOKENS], final_frames[FINAL_FRAMES];

static struct bytes make_answer(const char *body) {
  struct bytes answer = {malloc(strlen(body) + 512), 0};
  answer.length = sprintf(answer.at,
                          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                          "x-request-id: " REQUEST_ID "\r\nopenai-processing-ms: 312\r\n\r\n%s",
                          strlen(body), body);
  return answer;
}

static struct bytes make_literal(const char *text) { return (struct bytes){strdup(text), strlen(text)}; }

static struct bytes make_frame(const char *data) {
  struct bytes frame = {malloc(strlen(data) + 64), 0};
  frame.length = sprintf(frame.at, "%zx\r\n%s\r\n", strlen(data), data);
  return frame;
}

static void make_embeddings_answer(void) {
  char *body = malloc(64000);
  int length = sprintf(body, "{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":[");
  unsigned seed = 12345;
  for (int i = 0; i < 1536; i++) {
    seed = seed * 1103515245u + 12345u;
    double value = ((double)((seed >> 8) & 0xffffff) / 16777216.0 - 0.5) * 0.1;
    length += sprintf(body + length, "%s%.9f", i ? "," : "", value);
  }
  sprintf(body + length, "]}],\"model\":\"text-embedding-3-small\",\"usage\":{\"prompt_tokens\":8,\"total_tokens\":8}}");
  embeddings_answer = make_answer(body);
  free(body);
}

static void make_stream_frames(void) {
  static const char *words[] = {" the", " quick", " brown", " fox", " jumps", " over",  " lazy", " dogs",
                                " and", " then",  " it",    " sleeps", " under", " a", " tree", " \\n"};
  stream_head = make_literal(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n"
      "x-request-id: " REQUEST_ID "\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < TOKENS; i++) {
    char frame[1024];
    sprintf(frame,
            CHUNK_HEAD "[{\"index\":0,\"delta\":{%s\"content\":\"%s\"},\"logprobs\":null,\"finish_reason\":null}],"
                       "\"usage\":null}\n\n",
            i == 0 ? "\"role\":\"assistant\"," : "", i == 0 ? "" : words[i % 16]);
    tokens[i] = make_frame(frame);
  }
  final_frames[0] = make_frame(
      CHUNK_HEAD "[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":null}\n\n");
  final_frames[1] = make_frame(CHUNK_HEAD "[],\"usage\":" USAGE "}\n\n");
  final_frames[2] = make_literal("e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
}

static void make_answers(void) {
  chat_answer = make_answer(
      "{\"id\":\"" ID "\",\"object\":\"chat.completion\",\"created\":1741570283,\"model\":\"" MODEL "\",\"choices\":"
      "[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"The image shows a wooden boardwalk path running "
      "through a lush green field or meadow. The sky is bright blue with some scattered clouds.\",\"refusal\":null,"
      "\"annotations\":[]},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":" USAGE
      ",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_fc9f1d7035\"}");
  models_answer = make_answer(
      "{\"object\":\"list\",\"data\":[{\"id\":\"gpt-4o-mini\",\"object\":\"model\",\"created\":1721172741,"
      "\"owned_by\":\"system\"}]}");
  not_found_answer = make_literal(
      "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}");
  make_embeddings_answer();
  make_stream_frames();
}

#endif
