import { hasFunction } from '../_shared/states/call.ts';

export const mysqlVirtual = (): true | [false, string] =>
  hasFunction('mysql.version') || [
    false,
    'The execution module mysql is not available on this host: it needs mariadb or mysql.',
  ];
