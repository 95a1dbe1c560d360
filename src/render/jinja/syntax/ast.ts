import type { BinaryOperator } from '../values/operators.ts';
import type { Value } from '../values/value.ts';

/** A template's syntax tree; every node knows its line. */
type Node<Type extends string, Fields> = {
  readonly type: Type;
  readonly line: number;
} & Readonly<Fields>;

export type CallArgs = {
  readonly list: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  /** `*args` */
  readonly more: Expression | undefined;
  /** `**kwargs` */
  readonly moreNamed: Expression | undefined;
};

export type NameNode = Node<'Name', { name: string }>;
export type CallNode = Node<'Call', { callee: Expression; args: CallArgs }>;
/** Without a target it is the start of a block's filter chain. */
export type FilterNode = Node<
  'Filter',
  { target: Expression | undefined; name: string; args: CallArgs }
>;

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

export type Expression =
  | Node<'Const', { value: Value }>
  | NameNode
  | Node<'Attribute', { target: Expression; name: string }>
  | Node<'Item', { target: Expression; key: Expression }>
  | Node<
      'Slice',
      {
        target: Expression;
        start: Expression | undefined;
        stop: Expression | undefined;
        step: Expression | undefined;
      }
    >
  | CallNode
  | FilterNode
  | Node<'Test', { target: Expression; name: string; args: CallArgs }>
  | Node<'Not', { operand: Expression }>
  | Node<'And', { left: Expression; right: Expression }>
  | Node<'Or', { left: Expression; right: Expression }>
  | Node<'If', { test: Expression; chosen: Expression; otherwise: Expression | undefined }>
  | Node<'Compare', { first: Expression; rest: readonly (readonly [Comparison, Expression])[] }>
  | Node<'Binary', { operator: BinaryOperator; left: Expression; right: Expression }>
  | Node<'Sign', { operator: '+' | '-'; operand: Expression }>
  | Node<'Concat', { parts: readonly Expression[] }>
  | Node<'List', { items: readonly Expression[] }>
  | Node<'Tuple', { items: readonly Expression[] }>
  | Node<'Dict', { pairs: readonly (readonly [Expression, Expression])[] }>;

/** What a value can be assigned to. */
export type Target =
  | NameNode
  | Node<'Member', { name: string; attribute: string }>
  | Node<'Targets', { items: readonly Target[] }>;

export type Signature = {
  readonly params: readonly string[];
  /** Of the last parameters. */
  readonly defaults: readonly Expression[];
};

export type DataFormat = 'yaml' | 'json' | 'text';

export type Statement =
  | Node<'Text', { text: string; column: number }>
  | Node<'Print', { value: Expression; column: number }>
  | Node<
      'For',
      {
        target: Target;
        items: Expression;
        test: Expression | undefined;
        isRecursive: boolean;
        body: readonly Statement[];
        otherwise: readonly Statement[];
      }
    >
  | Node<
      'Choose',
      {
        branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[];
        otherwise: readonly Statement[];
      }
    >
  | Node<'Set', { target: Target; value: Expression }>
  | Node<'SetBlock', { target: Target; filter: FilterNode | undefined; body: readonly Statement[] }>
  | Node<'FilterBlock', { filter: FilterNode; body: readonly Statement[] }>
  | Node<'With', { pairs: readonly (readonly [Target, Expression])[]; body: readonly Statement[] }>
  | Node<'Scope', { body: readonly Statement[] }>
  | Node<'Group', { body: readonly Statement[] }>
  | Node<'Macro', { name: string; signature: Signature; body: readonly Statement[] }>
  | Node<'CallBlock', { call: CallNode; signature: Signature; body: readonly Statement[] }>
  | Node<
      'Block',
      { name: string; isScoped: boolean; isRequired: boolean; body: readonly Statement[] }
    >
  | Node<'Extends', { template: Expression }>
  | Node<'Include', { template: Expression; ignoreMissing: boolean; withContext: boolean }>
  | Node<'Import', { template: Expression; name: string; withContext: boolean }>
  | Node<
      'FromImport',
      {
        template: Expression;
        names: readonly (readonly [string, string])[];
        withContext: boolean;
      }
    >
  | Node<
      'ImportData',
      { template: Expression; format: DataFormat; name: string; withContext: boolean }
    >
  | Node<'LoadData', { format: DataFormat; target: Target; body: readonly Statement[] }>
  | Node<'Do', { value: Expression }>
  | Node<'Break', object>
  | Node<'Continue', object>;
