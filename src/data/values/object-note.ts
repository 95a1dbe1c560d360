/**
 * A note on objects that is invisible to other code: a private field, which costs a fraction of an
 * entry in a WeakMap. `of` returns it, `put` sets it.
 */
export type ObjectNote<Note> = {
  readonly of: (target: object) => Note | undefined;
  readonly put: (target: object, note: Note) => void;
};

/**
 * A constructor that returns its argument, so that a derived class adds its private fields to that
 * object.
 */
class Given {
  constructor(target: object) {
    // biome-ignore lint/correctness/noConstructorReturn: JavaScript's way to add private fields to another's object.
    return target;
  }
}

export const objectNote = <Note>(): ObjectNote<Note> => {
  class Stamped extends Given {
    #note: Note;
    constructor(target: object, note: Note) {
      super(target);
      this.#note = note;
    }
    static of(target: object): Note | undefined {
      return #note in target ? (target as Stamped).#note : undefined;
    }
    static put(target: object, note: Note): void {
      if (#note in target) (target as Stamped).#note = note;
      else new Stamped(target, note);
    }
  }
  return { of: Stamped.of, put: Stamped.put };
};
