/* A small web server on 127.0.0.1 for fetch_test.lua: it behaves well or badly by the address that
 * is asked for. It prints its port, serves one request at a time, and ends at /quit or after two
 * minutes. /NAME                the file NAME of the folder that is the first argument
 *   /-/short/NAME        the same with a Content-Length that promises more
 *   /-/status/CODE       that status with an empty body
 *   /-/as/CODE/NAME      the file NAME with that status
 *   /-/from/CODE         that status with a Location: the file "hello"
 *   /-/slow              a byte every tenth of a second
 *   /-/to/PATH           a redirect to PATH on this server
 *   /-/away              a redirect to a file:// address
 *   /-/loop              a redirect to itself
 *   /-/huge              a Content-Length of 8 GB
 *   /-/hangup            an end before any answer */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void say(int client, const char *text, size_t length) {
  while (length > 0) {
    const ssize_t sent = write(client, text, length);
    if (sent <= 0) return;
    text += sent;
    length -= (size_t)sent;
  }
}

static void head(int client, int status, const char *field, const char *value) {
  char text[2048];
  const int length =
      snprintf(text, sizeof text, "HTTP/1.1 %d Answer\r\nConnection: close\r\n%s: %s\r\n\r\n",
               status, field, value);
  if (length > 0 && (size_t)length < sizeof text) say(client, text, (size_t)length);
}

static void send_file(int client, const char *folder, const char *name, int status, long promised) {
  char path[2048], length[32], bytes[65536];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = strstr(name, "..") == NULL ? fopen(path, "rb") : NULL;
  if (file == NULL) {
    head(client, 404, "Content-Length", "0");
    return;
  }
  (void)fseek(file, 0, SEEK_END);
  (void)snprintf(length, sizeof length, "%ld", ftell(file) + promised);
  rewind(file);
  head(client, status, "Content-Length", length);
  for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
    say(client, bytes, got);
  (void)fclose(file);
}

/* Until the client goes. */
static void send_slowly(int client) {
  const struct timespec pause = {.tv_nsec = 100000000};
  head(client, 200, "Content-Length", "1000000");
  while (write(client, "x", 1) == 1)
    (void)nanosleep(&pause, NULL);
}

/* What comes after `start`, or NULL. */
static const char *after(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0 ? text + strlen(start) : NULL;
}

static void answer(int client, const char *folder, const char *path) {
  const char *rest;
  if ((rest = after(path, "/-/short/")) != NULL)
    send_file(client, folder, rest, 200, 1000);
  else if ((rest = after(path, "/-/status/")) != NULL)
    head(client, atoi(rest), "Content-Length", "0");
  else if ((rest = after(path, "/-/as/")) != NULL)
    send_file(client, folder, strchr(rest, '/') + 1, atoi(rest), 0);
  else if ((rest = after(path, "/-/from/")) != NULL)
    head(client, atoi(rest), "Location", "/hello");
  else if (strcmp(path, "/-/slow") == 0)
    send_slowly(client);
  else if ((rest = after(path, "/-/to")) != NULL)
    head(client, 302, "Location", rest);
  else if (strcmp(path, "/-/away") == 0)
    head(client, 302, "Location", "file:///etc/hostname");
  else if (strcmp(path, "/-/loop") == 0)
    head(client, 302, "Location", "/-/loop");
  else if (strcmp(path, "/-/huge") == 0)
    head(client, 200, "Content-Length", "8589934592");
  else if (strcmp(path, "/-/hangup") != 0)
    send_file(client, folder, path + 1, 200, 0);
}

/* The path of "GET /path HTTP/1.1", read up to the blank line. */
static int read_path(int client, char path[1024]) {
  char request[8192];
  size_t length = 0;
  request[0] = 0;
  while (strstr(request, "\r\n\r\n") == NULL && length < sizeof request - 1) {
    const ssize_t got = read(client, request + length, sizeof request - 1 - length);
    if (got <= 0) return 0;
    length += (size_t)got;
    request[length] = 0;
  }
  return sscanf(request, "GET %1023s ", path) == 1;
}

int main(int argc, char **argv) {
  struct sockaddr_in address = {0};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  if (argc < 2 || server < 0 || bind(server, (struct sockaddr *)&address, size) != 0 ||
      listen(server, 16) != 0 || getsockname(server, (struct sockaddr *)&address, &size) != 0) {
    (void)fprintf(stderr, "loopback_server: no port on 127.0.0.1\n");
    return 1;
  }
  (void)signal(SIGPIPE, SIG_IGN);
  (void)alarm(120);
  (void)printf("%d\n", (int)ntohs(address.sin_port));
  (void)fflush(stdout);
  for (char path[1024] = ""; strcmp(path, "/quit") != 0;) {
    const int client = accept(server, NULL, NULL);
    if (client < 0) continue;
    path[0] = 0;
    if (read_path(client, path)) answer(client, argv[1], path);
    (void)close(client);
  }
  (void)close(server);
  return 0;
}
