// Decodes a body in chunked transfer coding (RFC 9112, section 7.1), however its bytes are cut.
#ifndef RIDEAU_CHUNKED_H
#define RIDEAU_CHUNKED_H

enum chunked_state {
  CHUNK_SIZE,       // hexadecimal digits
  CHUNK_EXTENSION,  // after ';', up to the carriage return
  CHUNK_SIZE_END,   // the line feed behind the size
  CHUNK_DATA,       // `left` bytes of body
  CHUNK_DATA_END,   // the empty line behind the data
  CHUNK_LAST_LINE,  // the empty line behind the chunk of size 0
  CHUNK_DONE,
};

struct chunked {
  enum chunked_state state;
  long left;
};

// One step over at most `length` bytes (at least 1): returns how many it used. Where they are body bytes,
// *body_length is that number; else it is 0.
static inline long chunked_step(struct chunked *chunk, const char *bytes, long length, long *body_length) {
  char byte = *bytes;
  *body_length = 0;
  switch (chunk->state) {
    case CHUNK_SIZE:
      if (byte == '\r') {
        chunk->state = CHUNK_SIZE_END;
      } else if (byte == ';') {
        chunk->state = CHUNK_EXTENSION;
      } else {
        chunk->left = chunk->left * 16 + (byte <= '9' ? byte - '0' : (byte | 32) - 'a' + 10);
      }
      return 1;
    case CHUNK_EXTENSION:
      if (byte == '\r') chunk->state = CHUNK_SIZE_END;
      return 1;
    case CHUNK_SIZE_END:
      chunk->state = chunk->left > 0 ? CHUNK_DATA : CHUNK_LAST_LINE;
      return 1;
    case CHUNK_DATA: {
      long used = length < chunk->left ? length : chunk->left;
      chunk->left -= used;
      if (chunk->left == 0) chunk->state = CHUNK_DATA_END;
      *body_length = used;
      return used;
    }
    case CHUNK_DATA_END:
      if (byte == '\n') chunk->state = CHUNK_SIZE;
      return 1;
    default:
      if (byte == '\n') chunk->state = CHUNK_DONE;
      return 1;
  }
}

#endif
