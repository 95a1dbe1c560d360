# An image that runs tsalt-ssh: docs/guides/install.md says how to use it.
FROM node:24-trixie-slim AS build
WORKDIR /build
COPY . .
# `npm ci` builds it too.
RUN npm ci --no-audit --no-fund
RUN mkdir /packed && npm pack --ignore-scripts --pack-destination /packed

FROM node:24-trixie-slim
# ssh for --transport openssh and ProxyCommand, gpg for encrypted pillar, git for git sources.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git gpg gpg-agent openssh-client \
  && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,from=build,source=/packed,target=/packed \
  npm install --global --ignore-scripts --no-audit --no-fund /packed/tsalt-ssh-*.tgz \
  && npm cache clean --force
USER node
WORKDIR /project
ENTRYPOINT ["tsalt-ssh"]
CMD ["--help"]
