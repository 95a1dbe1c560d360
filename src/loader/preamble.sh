# A variable of the login environment must not change how Node starts; programs are looked for where
# a login shell would find them.
unset NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_V8_COVERAGE
command -v uname >/dev/null || PATH=$PATH:/usr/bin:/bin
case :$PATH: in
*:/usr/sbin:*) ;;
*) PATH=$PATH:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin ;;
esac
