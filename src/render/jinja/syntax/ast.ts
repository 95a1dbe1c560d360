import type { BinaryOperator } from '../values/operators.ts';
import type { Value } from '../values/value.ts';

/** A node of a template's syntax tree, with its line. */
type Node<Type extends string, Fields> = {
  readonly type: Type;
  readonly line: number;
} & Readonly<Fields>;

export type CallArgs = {
  readonly list: readonly JinjaExpression[];
  readonly named: readonly (readonly [string, JinjaExpression])[];
  /** `*args` */
  readonly more: JinjaExpression | undefined;
  /** `**kwargs` */
  readonly moreNamed: JinjaExpression | undefined;
};

export type NameNode = Node<'Name', { name: string }>;
export type CallNode = Node<'Call', { callee: JinjaExpression; args: CallArgs }>;
/** Without a target, it begins a block's filter chain. */
export type FilterNode = Node<
  'Filter',
  { target: JinjaExpression | undefined; name: string; args: CallArgs }
>;

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

export type JinjaExpression =
  | Node<'Const', { value: Value }>
  | NameNode
  | Node<'Attribute', { target: JinjaExpression; name: string }>
  | Node<'Item', { target: JinjaExpression; key: JinjaExpression }>
  | Node<
      'Slice',
      {
        target: JinjaExpression;
        start: JinjaExpression | undefined;
        stop: JinjaExpression | undefined;
        step: JinjaExpression | undefined;
      }
    >
  | CallNode
  | FilterNode
  | Node<'Test', { target: JinjaExpression; name: string; args: CallArgs }>
  | Node<'Not', { operand: JinjaExpression }>
  | Node<'And', { left: JinjaExpression; right: JinjaExpression }>
  | Node<'Or', { left: JinjaExpression; right: JinjaExpression }>
  | Node<
      'If',
      { test: JinjaExpression; chosen: JinjaExpression; otherwise: JinjaExpression | undefined }
    >
  | Node<
      'Compare',
      { first: JinjaExpression; rest: readonly (readonly [ComparisonOperator, JinjaExpression])[] }
    >
  | Node<'Binary', { operator: BinaryOperator; left: JinjaExpression; right: JinjaExpression }>
  | Node<'Sign', { operator: '+' | '-'; operand: JinjaExpression }>
  | Node<'Concat', { parts: readonly JinjaExpression[] }>
  | Node<'List', { items: readonly JinjaExpression[] }>
  | Node<'Tuple', { items: readonly JinjaExpression[] }>
  | Node<'Dict', { pairs: readonly (readonly [JinjaExpression, JinjaExpression])[] }>;

/** A target of an assignment. */
export type Target =
  | NameNode
  | Node<'Member', { name: string; attribute: string }>
  | Node<'Targets', { items: readonly Target[] }>;

export type MacroSignature = {
  readonly params: readonly string[];
  /** The defaults of the last parameters. */
  readonly defaults: readonly JinjaExpression[];
};

export type DataFormat = 'yaml' | 'json' | 'text';

export type Statement =
  | Node<'Text', { text: string; column: number }>
  | Node<'Print', { value: JinjaExpression; column: number }>
  | Node<
      'For',
      {
        target: Target;
        items: JinjaExpression;
        test: JinjaExpression | undefined;
        isRecursive: boolean;
        body: readonly Statement[];
        otherwise: readonly Statement[];
      }
    >
  | Node<
      'Choose',
      {
        branches: readonly {
          readonly test: JinjaExpression;
          readonly body: readonly Statement[];
        }[];
        otherwise: readonly Statement[];
      }
    >
  | Node<'Set', { target: Target; value: JinjaExpression }>
  | Node<'SetBlock', { target: Target; filter: FilterNode | undefined; body: readonly Statement[] }>
  | Node<'FilterBlock', { filter: FilterNode; body: readonly Statement[] }>
  | Node<
      'With',
      { pairs: readonly (readonly [Target, JinjaExpression])[]; body: readonly Statement[] }
    >
  | Node<'Scope', { body: readonly Statement[] }>
  | Node<'Group', { body: readonly Statement[] }>
  | Node<'Macro', { name: string; signature: MacroSignature; body: readonly Statement[] }>
  | Node<'CallBlock', { call: CallNode; signature: MacroSignature; body: readonly Statement[] }>
  | Node<
      'Block',
      { name: string; isScoped: boolean; isRequired: boolean; body: readonly Statement[] }
    >
  | Node<'Extends', { template: JinjaExpression }>
  | Node<'Include', { template: JinjaExpression; ignoreMissing: boolean; withContext: boolean }>
  | Node<'Import', { template: JinjaExpression; name: string; withContext: boolean }>
  | Node<
      'FromImport',
      {
        template: JinjaExpression;
        names: readonly (readonly [string, string])[];
        withContext: boolean;
      }
    >
  | Node<
      'ImportData',
      { template: JinjaExpression; format: DataFormat; name: string; withContext: boolean }
    >
  | Node<'LoadData', { format: DataFormat; target: Target; body: readonly Statement[] }>
  | Node<'Do', { value: JinjaExpression }>
  | Node<'Break', object>
  | Node<'Continue', object>;
