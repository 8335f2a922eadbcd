// The shapes of what a view of a notebook and its kernel say to each other.
import type { show } from "../pages/front/explorer.js";
import type { Bundle, Extra, Model, Plotly, Status, Traits } from "../pages/front/types.d.ts";

/** The front end of a page. */
export interface FrontEnd {
  loaded: Promise<{ show: typeof show; Plotly: Plotly }>;
  /** Load it from these texts, once. */
  offer(buffers: BufferSource[]): void;
  /** whether a view asked for it. */
  asked: boolean;
}

/** What a kernel sends. */
export type Message =
  | { kind: "front end"; buffers: BufferSource[] }
  | { kind: "traits"; traits: Partial<Traits> }
  | ({ kind: "status" } & Status)
  | { kind: "family" | "member"; index: string; buffers: ArrayBuffer[] };

/** What a view hears. */
export type News =
  | ({ kind: "status" } & Status)
  | { kind: "family"; bundle: Bundle }
  | { kind: "member"; bundle: Extra }
  | { kind: "front end" | "traits" };

/** What came through a channel. */
export interface Family {
  bundle?: Bundle;
  /** its text. */
  index?: string;
  /** members that came since. */
  extras: Extra[];
  status?: Status;
  /** whether the front end came. */
  front: boolean;
  views: Set<(news: News) => void>;
}

/** The widget model on which messages come and go. */
export interface Channel {
  attributes: Record<string, Message>;
  state_change: Promise<unknown>;
  /** false where the kernel is gone. */
  comm_live?: boolean;
  send(content: object): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
}

/**
 * The model of a view: beside the controls, the name of its channel and the version of its front
 * end.
 */
export interface ViewModel extends Omit<Model, "get" | "set"> {
  get: Model["get"] & ((name: "channel" | "front") => string);
  set: Model["set"] & ((values: Partial<Traits>) => void);
  widget_manager: { get_model(id: string): Promise<Channel> };
}
