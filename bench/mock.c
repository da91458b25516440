// A cheap OpenAI-shaped upstream: one thread, epoll, no allocation per request, about 4 µs of CPU each, so that
// the process in the middle is what a benchmark measures.
//
// usage: mock -p PORT [-n CHUNKS] [-i MICROSECONDS_BETWEEN_CHUNKS] [-d MILLISECONDS_BEFORE_FIRST_BYTE]
//
// A request overrides these by its model's name: "mock-n200-i5000-d20". It streams where "stream":true stands in
// the first 2 KB or the last 512 bytes of the body. Every event is a write of its own. Prints "ready" on listening.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "chunked.h"
#include "mock-answers.h"

enum { MAX_HEAD = 4096, BODY_START = 2048, BODY_END = 512, EVENTS = 512 };
enum state { READING_HEAD, READING_BODY, READING_CHUNKS, ANSWERING };
enum route { NOT_FOUND, CHAT, EMBEDDINGS, MODELS };

struct connection {
  int fd, dead, awaits_writable;
  enum state state;
  enum route route;
  char head[MAX_HEAD];
  int head_length;
  // What is kept of the body: enough to find the model and the stream flag at either end.
  char body_start[BODY_START];
  int body_start_length;
  char body_end[BODY_END];
  int body_end_length;
  long body_left;
  struct chunked chunk;
  // The answer under way: one block, or (streaming) a head, `chunks` content frames and the final ones.
  struct bytes block;
  int streaming, chunks, frame;
  long sent, pace_us;
  // Bytes of a next request that came while this one is answered.
  char *early;
  int early_length, early_capacity;
  // Place in the timer heap, -1 where none is set.
  int timer_index;
  uint64_t due_us;
};

static int epoll_fd;
static int default_chunks = 50;
static long default_pace_us = 0, default_delay_ms = 0;

static uint64_t now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000ull + time.tv_nsec / 1000;
}

// ---- Timers: a binary heap by due time ----

static struct connection **timers;
static int timer_count, timer_capacity;

static void timer_swap(int a, int b) {
  struct connection *swapped = timers[a];
  timers[a] = timers[b];
  timers[b] = swapped;
  timers[a]->timer_index = a;
  timers[b]->timer_index = b;
}

static void timer_rise(int index) {
  while (index > 0 && timers[(index - 1) / 2]->due_us > timers[index]->due_us) {
    timer_swap(index, (index - 1) / 2);
    index = (index - 1) / 2;
  }
}

static void timer_sink(int index) {
  for (;;) {
    int left = 2 * index + 1, least = index;
    if (left < timer_count && timers[left]->due_us < timers[least]->due_us) least = left;
    if (left + 1 < timer_count && timers[left + 1]->due_us < timers[least]->due_us) least = left + 1;
    if (least == index) return;
    timer_swap(index, least);
    index = least;
  }
}

static void timer_set(struct connection *connection) {
  if (timer_count == timer_capacity) {
    timer_capacity = timer_capacity ? timer_capacity * 2 : 1024;
    timers = realloc(timers, timer_capacity * sizeof *timers);
  }
  timers[timer_count] = connection;
  connection->timer_index = timer_count++;
  timer_rise(connection->timer_index);
}

static void timer_clear(struct connection *connection) {
  int index = connection->timer_index;
  if (index < 0) return;
  connection->timer_index = -1;
  timer_count--;
  if (index == timer_count) return;
  struct connection *moved = timers[timer_count];
  timers[index] = moved;
  moved->timer_index = index;
  timer_rise(index);
  timer_sink(moved->timer_index);
}

// ---- Sending ----

static void feed(struct connection *connection, const char *bytes, int length);

static void close_connection(struct connection *connection) {
  if (connection->dead) return;
  connection->dead = 1;
  timer_clear(connection);
  close(connection->fd);
}

static void await_writable(struct connection *connection, int wanted) {
  if (connection->awaits_writable == wanted) return;
  connection->awaits_writable = wanted;
  struct epoll_event event = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = connection};
  epoll_ctl(epoll_fd, EPOLL_CTL_MOD, connection->fd, &event);
}

// Sends what is left of a block: 1 where all is out, 0 where the socket is full or gone.
static int send_block(struct connection *connection, struct bytes block) {
  long result = send(connection->fd, block.at + connection->sent, block.length - connection->sent, MSG_NOSIGNAL);
  if (result < 0 && errno != EAGAIN) {
    close_connection(connection);
    return 0;
  }
  if (result > 0) connection->sent += result;
  if (connection->sent < block.length) {
    await_writable(connection, 1);
    return 0;
  }
  connection->sent = 0;
  return 1;
}

static struct bytes frame_at(const struct connection *connection) {
  int frame = connection->frame;
  if (frame == 0) return stream_head;
  if (frame == 1) return tokens[0];
  if (frame <= connection->chunks) return tokens[1 + (frame - 2) % (TOKENS - 1)];
  return final_frames[frame - 1 - connection->chunks];
}

static void set_pace_timer(struct connection *connection) {
  uint64_t now = now_us();
  connection->due_us += connection->pace_us;
  // Far behind (a slow reader): do not try to catch up in a burst.
  if (connection->due_us + 50000 < now) connection->due_us = now;
  timer_set(connection);
}

// Continues the answer: 1 where it is finished, 0 where it waits for the socket or the clock.
static int pump(struct connection *connection) {
  if (!connection->streaming) {
    if (!send_block(connection, connection->block)) return 0;
  } else {
    int frames = 1 + connection->chunks + FINAL_FRAMES;
    while (connection->frame < frames) {
      if (!send_block(connection, frame_at(connection))) return 0;
      connection->frame++;
      // The first event has only the role: providers send the first words with it.
      if (connection->pace_us && connection->frame > 2 && connection->frame <= connection->chunks + 1) {
        await_writable(connection, 0);
        set_pace_timer(connection);
        return 0;
      }
    }
  }
  await_writable(connection, 0);
  connection->state = READING_HEAD;
  connection->head_length = 0;
  return 1;
}

static void continue_answer(struct connection *connection) {
  if (!pump(connection) || connection->early_length == 0) return;
  char *early = connection->early;
  int length = connection->early_length;
  connection->early = NULL;
  connection->early_length = connection->early_capacity = 0;
  feed(connection, early, length);
  free(early);
}

// ---- Reading requests ----

// The number behind -<letter> in a model's name, -1 where there is none.
static long find_option(const char *start, const char *end, char letter) {
  for (const char *at = start; at + 2 < end; at++) {
    if (at[0] == '-' && at[1] == letter && at[2] >= '0' && at[2] <= '9') return strtol(at + 2, NULL, 10);
  }
  return -1;
}

static void read_model_options(struct connection *connection, long *delay_ms) {
  connection->body_start[connection->body_start_length] = 0;
  char *name = memmem(connection->body_start, connection->body_start_length, "\"model\":", 8);
  if (!name) return;
  for (name += 8; *name == ' ' || *name == '"';) name++;
  char *end = strchr(name, '"');
  if (!end || strncmp(name, "mock", 4) != 0) return;
  long value;
  if ((value = find_option(name, end, 'n')) >= 0) connection->chunks = value;
  if ((value = find_option(name, end, 'i')) >= 0) connection->pace_us = value;
  if ((value = find_option(name, end, 'd')) >= 0) *delay_ms = value;
}

static int asks_stream(const struct connection *connection) {
  return memmem(connection->body_start, connection->body_start_length, "\"stream\":true", 13) != NULL ||
         memmem(connection->body_start, connection->body_start_length, "\"stream\": true", 14) != NULL ||
         memmem(connection->body_end, connection->body_end_length, "\"stream\":true", 13) != NULL;
}

static void respond(struct connection *connection) {
  long delay_ms = default_delay_ms;
  connection->state = ANSWERING;
  connection->frame = connection->sent = 0;
  connection->chunks = default_chunks;
  connection->pace_us = default_pace_us;
  if (connection->route == CHAT || connection->route == EMBEDDINGS) read_model_options(connection, &delay_ms);
  connection->streaming = connection->route == CHAT && asks_stream(connection);
  connection->block = connection->route == CHAT         ? chat_answer
                      : connection->route == EMBEDDINGS ? embeddings_answer
                      : connection->route == MODELS     ? models_answer
                                                        : not_found_answer;
  connection->due_us = now_us();
  if (delay_ms > 0) {
    connection->due_us += delay_ms * 1000;
    timer_set(connection);
  } else {
    pump(connection);
  }
}

static void keep_body(struct connection *connection, const char *bytes, int length) {
  int room = BODY_START - 1 - connection->body_start_length;
  int head = length < room ? length : room;
  memcpy(connection->body_start + connection->body_start_length, bytes, head);
  connection->body_start_length += head;
  if (length >= BODY_END) {
    memcpy(connection->body_end, bytes + length - BODY_END, BODY_END);
    connection->body_end_length = BODY_END;
    return;
  }
  int kept = BODY_END - length < connection->body_end_length ? BODY_END - length : connection->body_end_length;
  memmove(connection->body_end, connection->body_end + connection->body_end_length - kept, kept);
  memcpy(connection->body_end + kept, bytes, length);
  connection->body_end_length = kept + length;
}

static enum route find_route(const char *head) {
  const char *end = strchr(head, '\r');
  long length = end ? end - head : 0;
  if (strncmp(head, "POST", 4) != 0) return memmem(head, length, "/models", 7) ? MODELS : NOT_FOUND;
  if (memmem(head, length, "embeddings", 10)) return EMBEDDINGS;
  return memmem(head, length, "chat/completions", 16) ? CHAT : NOT_FOUND;
}

static void read_head(struct connection *connection) {
  int chunked = 0;
  connection->body_start_length = connection->body_end_length = 0;
  connection->body_left = 0;
  connection->route = find_route(connection->head);
  for (char *line = strchr(connection->head, '\n'); line; line = strchr(line, '\n')) {
    line++;
    if (!strncasecmp(line, "content-length:", 15)) connection->body_left = strtol(line + 15, NULL, 10);
    if (!strncasecmp(line, "transfer-encoding:", 18)) chunked = 1;
  }
  if (chunked) {
    connection->state = READING_CHUNKS;
    connection->chunk = (struct chunked){CHUNK_SIZE, 0};
  } else if (connection->body_left > 0) {
    connection->state = READING_BODY;
  } else {
    respond(connection);
  }
}

// Adds to the head; returns how many bytes belonged to it. A head over MAX_HEAD closes the connection.
static int feed_head(struct connection *connection, const char *bytes, int length) {
  int old = connection->head_length, room = MAX_HEAD - 1 - old;
  int copied = length < room ? length : room;
  if (copied <= 0) {
    close_connection(connection);
    return length;
  }
  memcpy(connection->head + old, bytes, copied);
  connection->head_length += copied;
  connection->head[connection->head_length] = 0;
  int from = old > 3 ? old - 3 : 0;
  char *end = memmem(connection->head + from, connection->head_length - from, "\r\n\r\n", 4);
  if (!end) return copied;
  end[2] = 0;
  read_head(connection);
  return end + 4 - connection->head - old;
}

static void keep_early(struct connection *connection, const char *bytes, int length) {
  if (connection->early_length + length > connection->early_capacity) {
    connection->early_capacity = (connection->early_length + length) * 2;
    connection->early = realloc(connection->early, connection->early_capacity);
  }
  memcpy(connection->early + connection->early_length, bytes, length);
  connection->early_length += length;
}

static void feed(struct connection *connection, const char *bytes, int length) {
  while (length > 0 && !connection->dead) {
    long used = 0, body_length = 0;
    switch (connection->state) {
      case ANSWERING:
        keep_early(connection, bytes, length);
        return;
      case READING_HEAD:
        used = feed_head(connection, bytes, length);
        break;
      case READING_BODY:
        used = length < connection->body_left ? length : connection->body_left;
        keep_body(connection, bytes, used);
        connection->body_left -= used;
        if (connection->body_left == 0) respond(connection);
        break;
      case READING_CHUNKS:
        used = chunked_step(&connection->chunk, bytes, length, &body_length);
        if (body_length > 0) keep_body(connection, bytes, body_length);
        if (connection->chunk.state == CHUNK_DONE) respond(connection);
        break;
    }
    bytes += used;
    length -= used;
  }
}

// ---- The loop ----

static int listen_on(int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 4096) != 0) {
    perror("mock: bind");
    exit(1);
  }
  return fd;
}

static void accept_all(int listener) {
  int one = 1;
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct connection *connection = calloc(1, sizeof *connection);
    connection->fd = fd;
    connection->timer_index = -1;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
  }
}

static void read_socket(struct connection *connection) {
  static char buffer[262144];
  long length = recv(connection->fd, buffer, sizeof buffer, 0);
  if (length > 0) {
    feed(connection, buffer, length);
  } else if (length == 0 || errno != EAGAIN) {
    close_connection(connection);
  }
}

static int wait_for_events(struct epoll_event *events) {
  if (timer_count == 0) return epoll_pwait2(epoll_fd, events, EVENTS, NULL, NULL);
  uint64_t now = now_us(), due = timers[0]->due_us;
  long wait_us = due > now ? due - now : 0;
  struct timespec timeout = {wait_us / 1000000, (wait_us % 1000000) * 1000};
  return epoll_pwait2(epoll_fd, events, EVENTS, &timeout, NULL);
}

static void free_connection(struct connection *connection) {
  free(connection->early);
  free(connection);
}

static void run_loop(int listener) {
  struct epoll_event events[EVENTS];
  for (;;) {
    int count = wait_for_events(events);
    for (int i = 0; i < count; i++) {
      struct connection *connection = events[i].data.ptr;
      if (!connection) {
        accept_all(listener);
        continue;
      }
      if (events[i].events & EPOLLOUT && connection->awaits_writable) continue_answer(connection);
      if (!connection->dead && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read_socket(connection);
      // epoll names a connection once a round, so nothing later in this round points at it.
      if (connection->dead) free_connection(connection);
    }
    uint64_t now = now_us();
    while (timer_count > 0 && timers[0]->due_us <= now) {
      struct connection *connection = timers[0];
      timer_clear(connection);
      continue_answer(connection);
      if (connection->dead) free_connection(connection);
    }
  }
}

int main(int argc, char **argv) {
  int port = 9100, option;
  while ((option = getopt(argc, argv, "p:n:i:d:")) != -1) {
    if (option == 'p') port = atoi(optarg);
    else if (option == 'n') default_chunks = atoi(optarg);
    else if (option == 'i') default_pace_us = atol(optarg);
    else if (option == 'd') default_delay_ms = atol(optarg);
    else return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  make_answers();
  int listener = listen_on(port);
  epoll_fd = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &event);
  puts("ready");
  fflush(stdout);
  run_loop(listener);
}
