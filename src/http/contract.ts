/** The default address of a server. A file of its own: the CLI reads it without loading a server. */
export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 8080;
