/** Where a server listens unless it is told otherwise. Apart, so that who asks does not load a server. */
export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 8080;
