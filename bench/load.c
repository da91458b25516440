// A load generator for HTTP/1.1 with keep-alive, one thread: closed loop (-c connections, each sends its next
// request on its last answer) or open loop (-r requests a second, latency counted from the scheduled time).
//
// usage: load -p PORT -b BODY_FILE [-u PATH] [-H 'name: value']... [-c CONNECTIONS] [-d SECONDS] [-n TOTAL]
//             [-r RATE] [-s CONNECTIONS_OPENED_A_SECOND]
//
// Prints one line of JSON; times in microseconds. "events" counts empty lines in bodies, that is SSE events.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "chunked.h"

enum { MAX_HEAD = 4096, EVENTS = 512, BACKLOG = 4000000, SHOWN_ERRORS = 3 };
enum state { IDLE, SENDING, READING_HEAD, READING_BODY, READING_CHUNKS, READING_TO_END };

struct connection {
  int fd;
  enum state state;
  long sent;
  char head[MAX_HEAD];
  int head_length, status, ended_in_newline, has_first_byte, closes;
  long body_left;
  struct chunked chunk;
  uint64_t started_ns;
  uint32_t first_byte;
};

static int port = 8080, connection_count = 32;
static double duration_s = 5, rate = 0, open_rate = 0;
static long total = 0;

static char *request;
static long request_length;
static int epoll_fd, stopping;
static struct connection *connections;

// Figures. Times in units of 100 ns.
static uint32_t *latencies, *first_bytes;
static long latency_count, latency_capacity;
static long done, errors, not_ok, events, body_bytes, started, active, answered;

// Connections without a request, and (open loop) the times of requests that found none.
static struct connection **idle;
static int idle_count;
static uint64_t *backlog;
static long backlog_head, backlog_tail;

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static uint32_t since(uint64_t start_ns) {
  uint64_t passed = (now_ns() - start_ns) / 100;
  return passed > UINT32_MAX ? UINT32_MAX : passed;
}

static void connect_again(struct connection *connection) {
  int one = 1;
  connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(connection->fd, (struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS) {
    perror("load: connect");
    exit(1);
  }
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, connection->fd, &event);
}

static void await_writable(struct connection *connection, int wanted) {
  struct epoll_event event = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = connection};
  epoll_ctl(epoll_fd, EPOLL_CTL_MOD, connection->fd, &event);
}

static void fail(struct connection *connection) {
  if (errors < SHOWN_ERRORS) fprintf(stderr, "load: connection lost in state %d, errno %d\n", connection->state, errno);
  errors++;
  if (connection->state != IDLE) {
    active--;
    idle[idle_count++] = connection;
  }
  connection->state = IDLE;
  close(connection->fd);
  connect_again(connection);
}

// Sends what is left of the request.
static void send_request(struct connection *connection) {
  long result = send(connection->fd, request + connection->sent, request_length - connection->sent, MSG_NOSIGNAL);
  if (result < 0 && errno != EAGAIN && errno != ENOTCONN) {
    fail(connection);
    return;
  }
  if (result > 0) connection->sent += result;
  if (connection->sent == request_length) connection->state = READING_HEAD;
}

static void start(struct connection *connection, uint64_t scheduled_ns) {
  connection->state = SENDING;
  connection->sent = connection->head_length = connection->has_first_byte = connection->ended_in_newline = 0;
  connection->started_ns = scheduled_ns;
  started++;
  active++;
  send_request(connection);
  if (connection->state == SENDING) await_writable(connection, 1);
}

static void continue_sending(struct connection *connection) {
  send_request(connection);
  if (connection->state == READING_HEAD) await_writable(connection, 0);
}

static void keep_latency(const struct connection *connection) {
  if (latency_count == latency_capacity) {
    latency_capacity = latency_capacity ? latency_capacity * 2 : 1 << 20;
    latencies = realloc(latencies, latency_capacity * sizeof *latencies);
    first_bytes = realloc(first_bytes, latency_capacity * sizeof *first_bytes);
  }
  first_bytes[latency_count] = connection->has_first_byte ? connection->first_byte : 0;
  latencies[latency_count++] = since(connection->started_ns);
}

static void finish(struct connection *connection) {
  keep_latency(connection);
  done++;
  active--;
  if (connection->status != 200) not_ok++;
  connection->state = IDLE;
  if (connection->closes) {
    close(connection->fd);
    connect_again(connection);
  }
  if (rate > 0 && backlog_head < backlog_tail) {
    start(connection, backlog[backlog_head++ % BACKLOG]);
  } else if (rate <= 0 && !stopping && (!total || started < total)) {
    start(connection, now_ns());
  } else {
    idle[idle_count++] = connection;
  }
}

static void count_body(struct connection *connection, const char *bytes, long length) {
  if (!connection->has_first_byte) {
    connection->has_first_byte = 1;
    connection->first_byte = since(connection->started_ns);
    answered++;
  }
  body_bytes += length;
  const char *at = bytes, *end = bytes + length;
  if (connection->ended_in_newline && *bytes == '\n') events++;
  while ((at = memmem(at, end - at, "\n\n", 2))) {
    events++;
    at += 2;
  }
  connection->ended_in_newline = end[-1] == '\n' && !(length > 1 && end[-2] == '\n');
}

static void read_head(struct connection *connection) {
  long content_length = -1;
  int chunked = 0;
  connection->status = atoi(connection->head + 9);
  connection->closes = 0;
  for (char *line = strchr(connection->head, '\n'); line; line = strchr(line, '\n')) {
    line++;
    if (!strncasecmp(line, "content-length:", 15)) content_length = atol(line + 15);
    if (!strncasecmp(line, "transfer-encoding:", 18)) chunked = 1;
    if (!strncasecmp(line, "connection: close", 17)) connection->closes = 1;
  }
  if (chunked) {
    connection->state = READING_CHUNKS;
    connection->chunk = (struct chunked){CHUNK_SIZE, 0};
  } else if (content_length > 0) {
    connection->state = READING_BODY;
    connection->body_left = content_length;
  } else if (content_length == 0) {
    finish(connection);
  } else {
    connection->state = READING_TO_END;
  }
}

// Adds to the head; returns how many bytes belonged to it, or -1 where the connection failed.
static long feed_head(struct connection *connection, const char *bytes, long length) {
  int old = connection->head_length, room = MAX_HEAD - 1 - old;
  int copied = length < room ? length : room;
  if (copied <= 0) {
    fail(connection);
    return -1;
  }
  memcpy(connection->head + old, bytes, copied);
  connection->head_length += copied;
  connection->head[connection->head_length] = 0;
  int from = old > 3 ? old - 3 : 0;
  char *end = memmem(connection->head + from, connection->head_length - from, "\r\n\r\n", 4);
  if (!end) return copied;
  long used = end + 4 - connection->head - old;
  if (strncmp(connection->head + 9, "200", 3) != 0 && not_ok < SHOWN_ERRORS) {
    fprintf(stderr, "load: %.12s: %.*s\n", connection->head + 9, (int)(length - used > 300 ? 300 : length - used), bytes + used);
  }
  end[2] = 0;
  read_head(connection);
  return used;
}

static void feed(struct connection *connection, const char *bytes, long length) {
  while (length > 0) {
    long used = 0, body_length = 0;
    switch (connection->state) {
      case READING_HEAD:
        used = feed_head(connection, bytes, length);
        if (used < 0) return;
        break;
      case READING_BODY:
        used = length < connection->body_left ? length : connection->body_left;
        count_body(connection, bytes, used);
        connection->body_left -= used;
        if (connection->body_left == 0) {
          finish(connection);
          return;
        }
        break;
      case READING_CHUNKS:
        used = chunked_step(&connection->chunk, bytes, length, &body_length);
        if (body_length > 0) count_body(connection, bytes, body_length);
        if (connection->chunk.state == CHUNK_DONE) {
          finish(connection);
          return;
        }
        break;
      case READING_TO_END:
        count_body(connection, bytes, length);
        return;
      default:
        return;
    }
    bytes += used;
    length -= used;
  }
}

static void read_socket(struct connection *connection) {
  static char buffer[262144];
  long length = recv(connection->fd, buffer, sizeof buffer, 0);
  if (length > 0) {
    feed(connection, buffer, length);
  } else if (length == 0 && connection->state == READING_TO_END) {
    connection->closes = 1;
    finish(connection);
  } else if (length == 0 || errno != EAGAIN) {
    fail(connection);
  }
}

// ---- Set-up, the loop, the report ----

static void make_request(const char *path, const char *headers, const char *body_file) {
  FILE *file = fopen(body_file, "rb");
  if (!file) {
    perror(body_file);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  long body_length = ftell(file);
  rewind(file);
  request = malloc(body_length + 16384);
  request_length = sprintf(request,
                           "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: OpenAI/JS 6.49.0\r\n"
                           "Accept: application/json\r\nContent-Type: application/json\r\nX-Stainless-Lang: js\r\n"
                           "X-Stainless-Runtime: node\r\n%sContent-Length: %ld\r\n\r\n",
                           path, port, headers, body_length);
  if (fread(request + request_length, 1, body_length, file) != (size_t)body_length) exit(1);
  request_length += body_length;
  fclose(file);
}

static void start_all(void) {
  for (int i = 0; i < connection_count; i++) connect_again(&connections[i]);
  usleep(20000);
  for (int i = 0; i < connection_count; i++) {
    if (rate > 0 || (total && started >= total)) idle[idle_count++] = &connections[i];
    else start(&connections[i], now_ns());
  }
}

// Opens the connections that are due by -s; returns how many are open.
static int open_due(int opened, uint64_t since_ns) {
  while (opened < connection_count && (now_ns() - since_ns) * 1e-9 * open_rate >= opened) {
    connect_again(&connections[opened]);
    start(&connections[opened++], now_ns());
  }
  return opened;
}

// Starts the requests that are due by -r; returns when the next one is.
static double start_due(double next_ns) {
  for (uint64_t now = now_ns(); next_ns <= now; next_ns += 1e9 / rate) {
    if (idle_count > 0 && backlog_head == backlog_tail) start(idle[--idle_count], next_ns);
    else if (backlog_tail - backlog_head < BACKLOG) backlog[backlog_tail++ % BACKLOG] = next_ns;
  }
  return next_ns;
}

static void handle_events(long wait_ns) {
  static struct epoll_event ready[EVENTS];
  struct timespec timeout = {0, wait_ns};
  int count = epoll_pwait2(epoll_fd, ready, EVENTS, &timeout, NULL);
  for (int i = 0; i < count; i++) {
    struct connection *connection = ready[i].data.ptr;
    if (ready[i].events & EPOLLOUT && connection->state == SENDING) continue_sending(connection);
    if (ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read_socket(connection);
  }
}

// Returns the seconds it took.
static double run_loop(void) {
  int opened = 0;
  if (open_rate == 0) start_all();
  uint64_t start_ns = now_ns(), end_ns = start_ns + (uint64_t)(duration_s * 1e9);
  double next_ns = start_ns;
  for (;;) {
    uint64_t now = now_ns();
    int over = total ? done + errors >= total || now >= end_ns + 600000000000ull : now >= end_ns;
    // A closed loop by time ends at once; an open one, or one by number, waits for what is under way.
    if (over && rate <= 0 && !total) break;
    if (over) stopping = 1;
    if (stopping && (active <= 0 || now > end_ns + 2000000000ull)) break;
    if (open_rate > 0) opened = open_due(opened, start_ns);
    double wait_ns = open_rate > 0 && opened < connection_count ? 200000 : 50000000;
    if (rate > 0 && !stopping) {
      next_ns = start_due(next_ns);
      double until_next = next_ns - (double)now_ns();
      if (until_next < wait_ns) wait_ns = until_next < 0 ? 0 : until_next;
    }
    handle_events(wait_ns);
  }
  return (now_ns() - start_ns) * 1e-9;
}

static int compare(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static double quantile(const uint32_t *sorted, double q) {
  return latency_count ? sorted[(long)((latency_count - 1) * q)] * 0.1 : 0;
}

static void report(double seconds) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double cpu = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
  if (latency_count > 0) {
    qsort(latencies, latency_count, sizeof *latencies, compare);
    qsort(first_bytes, latency_count, sizeof *first_bytes, compare);
  }
  printf("{\"done\":%ld,\"err\":%ld,\"non200\":%ld,\"secs\":%.3f,\"rps\":%.1f,\"events\":%ld,\"bytes\":%ld,", done, errors,
         not_ok, seconds, done / seconds, events, body_bytes);
  printf("\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f,", quantile(latencies, 0.5),
         quantile(latencies, 0.9), quantile(latencies, 0.99), quantile(latencies, 0.999), quantile(latencies, 1));
  printf("\"ttfb50\":%.1f,\"ttfb99\":%.1f,\"first\":%ld,\"loadcpu\":%.3f,\"unfinished\":%ld}\n", quantile(first_bytes, 0.5),
         quantile(first_bytes, 0.99), answered, cpu, active);
}

int main(int argc, char **argv) {
  char headers[8192] = "", *path = "/v1/chat/completions", *body_file = NULL;
  int option;
  while ((option = getopt(argc, argv, "p:b:u:H:c:d:n:r:s:")) != -1) {
    switch (option) {
      case 'p': port = atoi(optarg); break;
      case 'b': body_file = optarg; break;
      case 'u': path = optarg; break;
      case 'H':
        if (strlen(headers) + strlen(optarg) + 3 > sizeof headers) return 2;
        strcat(strcat(headers, optarg), "\r\n");
        break;
      case 'c': connection_count = atoi(optarg); break;
      case 'd': duration_s = atof(optarg); break;
      case 'n': total = atol(optarg); break;
      case 'r': rate = atof(optarg); break;
      case 's': open_rate = atof(optarg); break;
      default: return 2;
    }
  }
  if (!body_file) {
    fprintf(stderr, "load: -b BODY_FILE is missing\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  make_request(path, headers, body_file);
  epoll_fd = epoll_create1(0);
  connections = calloc(connection_count, sizeof *connections);
  idle = calloc(connection_count, sizeof *idle);
  if (rate > 0) backlog = malloc(BACKLOG * sizeof *backlog);
  report(run_loop());
  return 0;
}
