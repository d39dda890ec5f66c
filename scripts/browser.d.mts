export declare function browserPath(): Promise<string>;
